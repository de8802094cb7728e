import { readFile } from "node:fs/promises";
import { beforeEach, expect, test } from "vitest";
import { ImageWorkflow, NEW_SESSION, Refused, Unfinished } from "./client.ts";
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

// Under a sweep a request may come twice: what was wanted and what was refused is counted.
const keys = async (query: string) => [...new Set((await sandbox.requests(query)).map((one) => one.idempotency_key))];
const refusals = async (code: string) => (await sandbox.requests(`code=${code}`)).filter((one) => !one.lost);

test("a photoshoot brings four pictures", async () => {
  const pictures = await client.photoshoot([await makeProduct()], { output_format: "webp" });
  expect(pictures).toHaveLength(4);
  const bytes = await client.download(pictures[0]!);
  expect(new TextDecoder().decode(bytes.slice(8, 12))).toBe("WEBP");
});

test.each(["answer-lost", "internal-error", "flaky-network"])("%s: it is asked for again and not paid twice", async (scenario) => {
  const product = await makeProduct();
  const before = (await client.request("GET", "/team")).credits;
  await sandbox.use(scenario);
  expect(await client.photoshoot([product])).toHaveLength(4);
  expect(await keys(GENERATE)).toHaveLength(1);
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
    const refused = await Promise.all([...NEW_SESSION].map(refusals));
    expect(await keys("operation=createUpload")).toHaveLength(1 + refused.flat().length);
  },
);

test("what waiting does not mend is reported at once", async () => {
  const product = await makeProduct();
  await sandbox.setTeam("Demo", { credits: 1 });
  await expect(client.photoshoot([product])).rejects.toThrow(Refused);
  expect(await keys("code=insufficient_credits")).toHaveLength(1);
});
