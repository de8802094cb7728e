/**
 * The live events of a sandbox, over `fetch`, since an EventSource cannot send the control token. Goes on after a lost
 * connection where it stopped (`Last-Event-ID`), and says when it is lost and when it is there again.
 */

import { Refusal, send } from "./service.js";

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 3000;

/**
 * @typedef {object} LiveEvent
 * @property {string} kind
 * @property {any} data
 */

/**
 * Listen until the signal aborts.
 * @param {object} listener
 * @param {(event: LiveEvent) => void} listener.heard
 * @param {(isAgain: boolean) => void} listener.connected
 * @param {(reason: string) => void} listener.lost
 * @param {AbortSignal} signal
 */
export async function listen(listener, signal) {
  let lastId = "";
  let pause = FIRST_PAUSE_MS;
  let isAgain = false;
  while (!signal.aborted) {
    const attempt = new AbortController();
    const abort = () => attempt.abort();
    signal.addEventListener("abort", abort);
    const giveUp = () => void looksAlive().then((isAlive) => isAlive || attempt.abort());
    addEventListener("offline", giveUp);
    let reason = "Connection lost. Trying again…";
    try {
      const headers = /** @type {Record<string, string>} */ ({ Accept: "text/event-stream" });
      if (lastId) headers["Last-Event-ID"] = lastId;
      const response = await send("GET", "events", { headers, signal: attempt.signal });
      listener.connected(isAgain);
      isAgain = true;
      pause = FIRST_PAUSE_MS;
      for await (const event of read(response)) {
        if (event.id) lastId = event.id;
        if (event.data) listener.heard({ kind: event.kind, data: JSON.parse(event.data) });
      }
    } catch (error) {
      if (error instanceof Refusal && error.status) {
        reason = error.message;
        lastId = "";
      }
    } finally {
      signal.removeEventListener("abort", abort);
      removeEventListener("offline", giveUp);
    }
    if (signal.aborted) return;
    listener.lost(reason);
    await wait(pause);
    pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
  }
}

/** Whether the emulator still answers: a machine may be offline, and the emulator on it is there all the same. */
async function looksAlive() {
  return send("GET", "/health", { signal: AbortSignal.timeout(LONGEST_PAUSE_MS) }).then(
    () => true,
    () => false,
  );
}

/** @param {number} milliseconds */
function wait(milliseconds) {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
    addEventListener("online", resolve, { once: true });
  });
}

/**
 * Read the events of a response, as the HTML standard has them.
 * @param {Response} response
 * @returns {AsyncGenerator<{id: string, kind: string, data: string}>}
 */
async function* read(response) {
  if (!response.body) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split(/\r?\n\r?\n/);
    rest = blocks.pop() ?? "";
    for (const block of blocks) yield parse(block);
  }
}

/** @param {string} block */
function parse(block) {
  const event = { id: "", kind: "message", data: "" };
  for (const line of block.split(/\r?\n/)) {
    const at = line.indexOf(":");
    const name = at < 0 ? line : line.slice(0, at);
    const value = at < 0 ? "" : line.slice(at + 1).replace(/^ /, "");
    if (name === "id") event.id = value;
    else if (name === "event") event.kind = value;
    else if (name === "data") event.data += event.data ? `\n${value}` : value;
  }
  return event;
}
