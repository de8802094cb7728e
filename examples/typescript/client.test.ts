import { readFile } from "node:fs/promises";
import { beforeEach, expect, test } from "vitest";
import { ImageWorkflow, Refused, Unfinished } from "./client.ts";
import { useSandbox } from "./emulator.ts";

const sandbox = await useSandbox();
const photo = new Uint8Array(await readFile(new URL("photo.png", import.meta.url)));
const client = new ImageWorkflow(sandbox.baseUrl, sandbox.apiKey, sandbox.advance);
const GENERATE = "operation=createProductPhotographyGeneration";

beforeEach(async () => {
  await sandbox.reset();
  sandbox.tellOnFailure();
});

async function makeProduct(): Promise<string> {
  const asset = await client.upload(photo, "image/png");
  return (await client.createProduct("Linen shirt", [asset.id])).id;
}

test("a photoshoot brings four pictures", async () => {
  const pictures = await client.photoshoot([await makeProduct()], { output_format: "webp" });
  expect(pictures).toHaveLength(4);
  const bytes = await (await fetch(pictures[0]!.url)).arrayBuffer();
  expect(new TextDecoder().decode(bytes.slice(8, 12))).toBe("WEBP");
});

test.each(["answer-lost", "internal-error", "flaky-network"])("%s: it is asked for again and not paid twice", async (scenario) => {
  const product = await makeProduct();
  const before = (await client.request("GET", "/team")).credits;
  await sandbox.use(scenario);
  expect(await client.photoshoot([product])).toHaveLength(4);
  expect(new Set((await sandbox.requests(GENERATE)).map((one) => one.idempotency_key)).size).toBe(1);
  const { data } = await client.request("GET", "/generations");
  expect(before - (await client.request("GET", "/team")).credits).toBe(data[0].credits.charged);
});

test("outputs that fail leave the others", async () => {
  await sandbox.use("some-outputs-fail");
  expect(await client.photoshoot([await makeProduct()])).toHaveLength(2);
});

test("it does not wait for ever", async () => {
  const impatient = new ImageWorkflow(sandbox.baseUrl, sandbox.apiKey, sandbox.advance, { patience: 60 });
  const product = await makeProduct();
  await sandbox.use("outputs-stall");
  await expect(impatient.photoshoot([product])).rejects.toThrow(Unfinished);
});

test.each(["upload-window-missed", "upload-bytes-conflict", "problem:upload_not_found"])(
  "%s: the session is replaced",
  async (scenario) => {
    await sandbox.use(scenario);
    expect((await client.upload(photo, "image/png")).source).toBe("upload");
    expect(await sandbox.requests("operation=createUpload")).toHaveLength(2);
  },
);

test("what waiting does not mend is reported at once", async () => {
  const product = await makeProduct();
  await sandbox.setTeam("Demo", { credits: 1 });
  await expect(client.photoshoot([product])).rejects.toThrow(Refused);
  expect(await sandbox.requests(GENERATE)).toHaveLength(1);
});
