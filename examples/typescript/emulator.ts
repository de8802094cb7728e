// A sandbox of the emulator for each test file: `const sandbox = await useSandbox({ scenario: "answer-lost" })`.
// The emulator is the one of EMULATOR_URL, as under `image-workflow-emulator exec -- npx vitest run`.

import { afterAll, onTestFailed } from "vitest";
import type { Json } from "./client.ts";

const url = process.env.EMULATOR_URL ?? "http://127.0.0.1:8038";

async function control(method: string, path: string, body?: Json): Promise<any> {
  const headers = { "Content-Type": "application/json" };
  const answer = await fetch(`${url}/_emulator/${path}`, { method, headers, body: body && JSON.stringify(body) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${text}`);
  return text ? JSON.parse(text) : undefined;
}

/** Make a sandbox for the tests of this file, and delete it after them. */
export async function useSandbox(options: Json = {}) {
  const made = await control("POST", "sandboxes", { clock: "auto", ...options });
  const path = `sandboxes/${made.id}`;
  afterAll(() => control("DELETE", path));
  return {
    baseUrl: made.base_url as string,
    apiKey: made.env.IMAGE_WORKFLOW_API_KEY as string,
    reset: () => control("POST", `${path}/reset`),
    use: (scenario: string) => control("PUT", `${path}/scenario`, { use: scenario }),
    advance: (seconds: number) => control("POST", `${path}/clock/advance`, { seconds }),
    now: async () => Date.parse((await control("GET", `${path}/clock`)).now),
    setTeam: (team: string, changes: Json) => control("PATCH", `${path}/teams/${team}`, changes),
    requests: async (query = ""): Promise<Json[]> => (await control("GET", `${path}/requests?${query}`)).data.reverse(),
    /** Print the recorded requests of a test that fails. */
    tellOnFailure() {
      onTestFailed(async () => {
        for (const one of await this.requests()) console.log(one.status, one.operation ?? one.path, one.code ?? "");
      });
    },
  };
}
