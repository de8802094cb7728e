/** The emulator's time between two looks at its clock: it goes on by itself where the clock does. */

/**
 * @typedef {object} Clock
 * @property {string} now
 * @property {"real" | "manual" | "auto"} mode
 * @property {number} rate
 * @property {number} pending
 * @property {string | null} next_event_at
 * @property {{at: string, what: string, id: string | null}[]} [events]
 */

/** @type {{clock: Clock, at: number} | null} */
let seen = null;
/** @type {Set<(clock: Clock) => void>} */
const watchers = new Set();

/**
 * Keep what the clock says.
 * @param {Clock} clock
 */
export function keepClock(clock) {
  seen = { clock, at: performance.now() };
  for (const watcher of watchers) watcher(clock);
}

/** @param {(clock: Clock) => void} watcher */
export function watchClock(watcher) {
  watchers.add(watcher);
  if (seen) watcher(seen.clock);
}

/** The clock as it was last seen. */
export function lastClock() {
  return seen?.clock ?? null;
}

/** The emulator's time now, in milliseconds since 1970; NaN while nothing is known. */
export function emulatorNow() {
  if (!seen) return NaN;
  const passed = seen.clock.mode === "real" ? (performance.now() - seen.at) * seen.clock.rate : 0;
  return Date.parse(seen.clock.now) + passed;
}

/** Whether the emulator's time goes on by itself. */
export function isRunning() {
  return seen?.clock.mode === "real";
}
