/**
 * The live events of a sandbox, over `fetch`, since an EventSource cannot send the control token. Goes on after a lost
 * connection where it stopped (`Last-Event-ID`), and says when it is lost and when it is there again. More requests at once
 * than a stream can tell of are skipped, and reported as a gap: what reads the journal has caught up sooner.
 *
 * A browser opens six connections to a host, so all tabs share one stream: the tab that holds a lock reads it and passes
 * on what it hears. If that tab goes, the next one takes the lock and goes on after the last event.
 */

import { address, mayNeedToken, Refusal, send } from "./service.js";

const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 3000;
const BURST = 300;
const BURST_WINDOW_MS = 1000;
const BURST_PAUSE_MS = 300;

/** The id of the last event that was heard, in whatever tab. */
let lastId = "";

/** Listen until the signal aborts, with one stream for all tabs that show the sandbox. */
export async function share(listener, signal) {
  // A tab without the right control token waits here, and holds no other tab up.
  if (mayNeedToken()) await send("HEAD", "events").catch(() => {});
  const name = address("events").href;
  if (!navigator.locks) return listenWhileSeen(listener, signal);
  const others = new BroadcastChannel(name);
  signal.addEventListener("abort", () => others.close());
  others.onmessage = ({ data: [what, value, id] }) => {
    lastId = id;
    listener[what](value);
  };
  const passOn = (what) => (value) => {
    if (!signal.aborted) others.postMessage([what, value, lastId]);
    listener[what](value);
  };
  const all = {
    heard: passOn("heard"),
    connected: passOn("connected"),
    lost: passOn("lost"),
    gone: passOn("gone"),
  };
  const isFirst = await navigator.locks.request(name, { ifAvailable: true }, (lock) => lock && listen(all, signal));
  if (isFirst !== null) return isFirst;
  // Another tab listens: from now on this one hears what it does.
  listener.connected(false);
  return navigator.locks.request(name, { signal }, () => listen(all, signal)).catch(() => {});
}

/**
 * Without locks, which a browser gives only to pages of this machine or with encryption, a tab that is not seen gives its
 * connection up.
 */
async function listenWhileSeen(listener, signal) {
  while (!signal.aborted) {
    const hidden = new AbortController();
    const leave = () => document.hidden && hidden.abort();
    document.addEventListener("visibilitychange", leave);
    leave();
    await listen(listener, AbortSignal.any([signal, hidden.signal]));
    document.removeEventListener("visibilitychange", leave);
    await new Promise((resolve) => document.addEventListener("visibilitychange", resolve, { once: true }));
  }
}

/** Listen until the signal aborts, or the sandbox is gone. */
async function listen(listener, signal) {
  let pause = FIRST_PAUSE_MS;
  // Where another tab listened before, something may have been missed since.
  let isAgain = lastId !== "";
  let isBehind = false;
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
      if (!isBehind) listener.connected(isAgain);
      isAgain = true;
      pause = FIRST_PAUSE_MS;
      if (isBehind) listener.heard({ kind: "gap", data: { missed: BURST } });
      isBehind = false;
      const recent = /** @type {number[]} */ ([]);
      for await (const event of read(response)) {
        if (event.id) lastId = event.id;
        if (event.data) listener.heard({ kind: event.kind, data: JSON.parse(event.data) });
        recent.push(performance.now());
        if (recent.length < BURST) continue;
        isBehind = recent[recent.length - 1] - /** @type {number} */ (recent.shift()) < BURST_WINDOW_MS;
        if (isBehind) break;
      }
    } catch (error) {
      if (error instanceof Refusal && error.status) {
        reason = error.message;
        lastId = "";
        if (error.status === 404) {
          listener.gone();
          return;
        }
      }
    } finally {
      signal.removeEventListener("abort", abort);
      removeEventListener("offline", giveUp);
    }
    if (signal.aborted) return;
    if (isBehind) {
      attempt.abort();
      lastId = "";
      listener.heard({ kind: "behind", data: {} });
      await wait(BURST_PAUSE_MS);
      continue;
    }
    listener.lost(reason);
    // What was to be read meanwhile could not be read either.
    isAgain = true;
    await wait(pause);
    pause = Math.min(pause * 2, MAX_PAUSE_MS);
  }
}

/** Whether the emulator still answers: a machine may be offline, and the emulator on it is there all the same. */
async function looksAlive() {
  return send("GET", "/health", { signal: AbortSignal.timeout(MAX_PAUSE_MS) }).then(
    () => true,
    () => false,
  );
}

function wait(milliseconds) {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
    addEventListener("online", resolve, { once: true });
  });
}

/** Read the events of a response, as the HTML standard has them. */
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
