import { readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { useSandbox } from "./emulator.ts";

// What the helper itself does: it says why, in words, and keeps what happened.
const sandbox = await useSandbox({ clock: "manual", readings: "plain" });

function get(path: string, key = sandbox.apiKey) {
  return fetch(`${sandbox.baseUrl}${path}`, { headers: { Authorization: `Bearer ${key}` } });
}

test("a refused request is explained", async () => {
  await get("/team", await sandbox.key("iwe_demo_revoked"));

  const { remedy } = await sandbox.explain();

  expect(remedy).toBe("use the Team's credential 'Full'");
});

test("what the emulator refuses says code and detail", async () => {
  await expect(sandbox.use("nowhere")).rejects.toThrow(/: invalid_scenario: .*"nowhere"/);
});

test("a key that there is not is refused", async () => {
  await expect(sandbox.key("iwe_nobody")).rejects.toThrow("not_found: the sandbox has no key iwe_nobody");
});

test("idle moves the clock until work is done", async () => {
  const shirt = await sandbox.given.product("Linen shirt");
  const { id } = await sandbox.given.photoshoot({ products: [shirt], finished: false });

  await sandbox.idle();

  const generation: any = await (await get(`/generations/${id}`)).json();
  expect(generation.status).toBe("completed");
});

test("the sandbox is kept as a state file", async () => {
  const file = join(tmpdir(), `state-${process.pid}.zip`);

  await sandbox.save(file);

  const content = await readFile(file, "latin1");
  await rm(file);
  expect(content).toMatch(/^PK/);
});

test("without an emulator it says how to get one", async () => {
  vi.stubEnv("EMULATOR_URL", "http://127.0.0.1:9");
  vi.resetModules();
  const { useSandbox: alone } = await import("./emulator.ts");

  await expect(alone()).rejects.toThrow("no emulator at http://127.0.0.1:9: run under `image-workflow-emulator exec");

  vi.unstubAllEnvs();
});
