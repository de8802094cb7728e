/**
 * Requests to the service itself, with a credential, as a client sends them: they are in the journal, and the rules of a
 * scenario apply to them. Only what a person sends by a press of a button goes this way.
 */

import { ask, ROOT } from "./service.js";

const BASE = new URL("../v1/", ROOT);

/**
 * Send a request with a path below `/v1` and a body of JSON, and return whatever is answered; a refusal is an answer too.
 * `status` is null where the answer was lost on its way, `entry` is the journal's, where the answer names it.
 */
export async function sendAsClient(/** @type {any} */ { method, path, key, headers = {}, body }) {
  const sent = /** @type {Record<string, string>} */ ({ ...headers, Authorization: `Bearer ${key}` });
  if (body !== undefined) sent["Content-Type"] = "application/json";
  try {
    const response = await fetch(new URL(path.slice(1), BASE), { method, headers: sent, body, cache: "no-store" });
    const requestId = response.headers.get("Request-Id");
    const text = await response.text();
    return { status: response.status, body: parsed(text), entry: await entryOf(requestId) };
  } catch {
    return { status: null, body: null, entry: null };
  }
}

/** A text for Idempotency-Key. Not `randomUUID`, which browsers do not give to pages that came without encryption. */
export function newIdempotencyKey() {
  return [...crypto.getRandomValues(new Uint8Array(8))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The credentials of a Team, as pairs of key and words. */
export function keysOf({ name, credentials }) {
  return credentials.map(({ key, profile, state }) => [
    key,
    [`${name}: ${key}`, profile !== "full" && profile, state !== "active" && state].filter(Boolean).join(", "),
  ]);
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text || null;
  }
}

async function entryOf(requestId) {
  return requestId && ask("GET", `requests/${encodeURIComponent(requestId)}`).catch(() => null);
}
