// A sandbox of the emulator for each test file: `const sandbox = await useSandbox({ scenario: "answer-lost" })`.
// The emulator is the one of EMULATOR_URL, as under `image-workflow-emulator exec -- npx vitest run`.
// This file is also the source of the npm package (npm/package.json here).

import { afterAll, onTestFailed } from "vitest";

export type Json = Record<string, any>;

const url = process.env.EMULATOR_URL ?? "http://127.0.0.1:8038";

async function control(method: string, path: string, body?: Json): Promise<any> {
  const headers = { "Content-Type": "application/json" };
  const answer = await fetch(`${url}/_emulator/${path}`, { method, headers, body: body && JSON.stringify(body) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${text}`);
  return text ? JSON.parse(text) : undefined;
}

/**
 * Make a sandbox for the tests of this file, and delete it after them. Without `scenario`, or with undefined, it has the
 * scenario of its emulator, as of `exec --scenario`; with null it has none.
 */
export async function useSandbox(options: Json = {}) {
  const made = await control("POST", "sandboxes", { clock: "auto", ...options });
  const path = `sandboxes/${made.id}`;
  afterAll(() => control("DELETE", path));
  const make = async (kind: string, fields: Json): Promise<Json> =>
    (await control("POST", `${path}/given`, { given: [{ [kind]: fields }] })).data[0];
  return {
    baseUrl: made.base_url as string,
    apiKey: made.env.IMAGE_WORKFLOW_API_KEY as string,
    reset: () => control("POST", `${path}/reset`),
    use: (scenario: string) => control("PUT", `${path}/scenario`, { use: scenario }),
    advance: (seconds: number) => control("POST", `${path}/clock/advance`, { seconds }),
    /** The name of the running scenario; null if there is none. */
    scenario: async (): Promise<string | null> => (await control("GET", `${path}/scenario`)).scenario,
    now: async () => Date.parse((await control("GET", `${path}/clock`)).now),
    setTeam: (team: string, changes: Json) => control("PATCH", `${path}/teams/${team}`, changes),
    /** What is there before the client comes, by the rules of /v1; the journal does not know of it. */
    given: {
      product: (name: string, fields: { photos?: number } & Json = {}) => make("product", { name, ...fields }),
      fashionModel: (name: string, fields: Json = {}) => make("fashion_model", { name, ...fields }),
      background: (name: string, fields: Json = {}) => make("background", { name, ...fields }),
      pose: (name: string, fields: Json = {}) => make("pose", { name, ...fields }),
      photographyStyle: (name: string, fields: Json = {}) => make("photography_style", { name, ...fields }),
      photoshoot: (fields: { products: (string | Json)[]; finished?: boolean } & Json) => {
        const products = fields.products.map((one) => (typeof one === "string" ? one : one.id));
        return make("photoshoot", { ...fields, products });
      },
    },
    requests: async (query = ""): Promise<Json[]> => (await control("GET", `${path}/requests?${query}`)).data.reverse(),
    /** What the client did wrong so far; see docs/conduct.md. */
    conduct: async (): Promise<Json[]> => (await control("GET", `${path}/conduct?ended=true`)).findings,
    /** Print the recorded requests of a test that fails, and below each refused one what would have helped. */
    tellOnFailure() {
      onTestFailed(async () => {
        for (const one of await this.requests()) {
          console.log(one.status, one.operation ?? one.path, one.code ?? "");
          if (one.code) console.log("  ", (await control("GET", `${path}/requests/${one.sequence}`)).remedy);
        }
      });
    },
  };
}
