// A sandbox of the emulator for each test file: `const sandbox = await useSandbox({ scenario: "answer-lost" })`.
// The emulator is the one of EMULATOR_URL, as under `image-workflow-emulator exec -- npx vitest run`.
// This file is also the source of the npm package (npm/package.json here).

import { writeFile } from "node:fs/promises";
import { afterAll, onTestFailed } from "vitest";

export type Json = Record<string, any>;

const url = process.env.EMULATOR_URL ?? "http://127.0.0.1:8038";

/** Ask the control plane; what it refuses is an error that says `code: detail`. */
async function ask(method: string, path: string, body?: Json): Promise<Response> {
  const headers = { "Content-Type": "application/json" };
  const sent = { method, headers, body: body && JSON.stringify(body) };
  const answer = await fetch(`${url}/_emulator/${path}`, sent).catch((cause) => {
    throw new Error(`no emulator at ${url}: run under \`image-workflow-emulator exec -- COMMAND\``, { cause });
  });
  if (!answer.ok) throw new Error(`${method} ${path}: ${refusal(await answer.text())}`);
  return answer;
}

/** A problem as `code: detail`; another text as it is. */
function refusal(text: string): string {
  try {
    const { code, detail } = JSON.parse(text);
    return code ? `${code}: ${detail}` : text;
  } catch {
    return text;
  }
}

async function control(method: string, path: string, body?: Json): Promise<any> {
  const text = await (await ask(method, path, body)).text();
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
    /** This sandbox's form of another key of the world, such as `iwe_demo_read`. */
    async key(key: string): Promise<string> {
      const teams: Json[] = (await control("GET", `${path}/teams`)).data;
      const keys: string[] = teams.flatMap((team) => team.credentials.map((credential: Json) => credential.key));
      const own = keys.find((one) => one === key || one === `${key}_${made.id}`);
      if (!own) throw new Error(`not_found: the sandbox has no key ${key}`);
      return own;
    },
    reset: () => control("POST", `${path}/reset`),
    use: (scenario: string) => control("PUT", `${path}/scenario`, { use: scenario }),
    advance: (seconds: number) => control("POST", `${path}/clock/advance`, { seconds }),
    /** The name of the running scenario; null if there is none. */
    scenario: async (): Promise<string | null> => (await control("GET", `${path}/scenario`)).scenario,
    /** Move the clock until no work is unfinished, except what a scenario stalls. */
    idle: () => control("POST", `${path}/clock/advance`, { until_idle: true }),
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
    /** Why a request ended as it did, by "last", its number or its Request-Id; `remedy` says what would have helped. */
    async explain(which: string | number = "last"): Promise<Json> {
      const newest = which === "last" ? (await control("GET", `${path}/requests?limit=1`)).data[0] : undefined;
      return (await control("GET", `${path}/requests/${newest?.sequence ?? which}`)).explanation;
    },
    /** Write all of it to a state file; if the name ends in `.json`, to a session for the page's `Open file`. */
    async save(file: string) {
      const kind = file.endsWith(".json") ? "session" : "state";
      const content = await (await ask("GET", `${path}/${kind}`)).arrayBuffer();
      await writeFile(file, new Uint8Array(content));
    },
    /** What the client did wrong so far; see docs/conduct.md. */
    conduct: async (): Promise<Json[]> => (await control("GET", `${path}/conduct?ended=true`)).findings,
    /** Print the recorded requests of a test that fails, and below each refused one what would have helped. */
    tellOnFailure() {
      onTestFailed(async () => {
        for (const one of await this.requests()) {
          console.log(one.status, one.operation ?? one.path, one.code ?? "");
          if (one.code) console.log("  ", (await this.explain(one.sequence)).remedy);
        }
      });
    },
  };
}
