import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { ImageWorkflow } from "./client.ts";
import { useSandbox } from "./emulator.ts";

// The clock moves only while the client pauses, so the test can measure the pauses. Under other readings than the plain
// ones a hint may be half of the truth, or work may begin sooner.
const sandbox = await useSandbox({ clock: "manual", readings: "plain" });
const client = new ImageWorkflow(sandbox.baseUrl, sandbox.apiKey, sandbox.advance);

test("it polls no sooner than Retry-After says", async () => {
  const photo = new Uint8Array(await readFile(new URL("photo.png", import.meta.url)));
  const asset = await client.upload(photo, "image/png");
  const product = await client.createProduct("Linen shirt", [asset.id]);
  const before = await sandbox.now();
  await client.photoshoot([product.id]);
  expect(await sandbox.now()).toBeGreaterThanOrEqual(before + 12_000);
  expect((await sandbox.requests("operation=getGeneration")).length).toBeLessThanOrEqual(8);
});

test("it waits out a rate limit", async () => {
  await sandbox.use("rate-limited");
  const before = await sandbox.now();
  for (let number = 0; number < 8; number++) await client.request("GET", "/team");
  expect(await sandbox.now()).toBeGreaterThanOrEqual(before + 60_000);
});
