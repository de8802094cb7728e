/** The emulator's time between two looks at its clock: it goes on by itself where the clock does. */

const TICK_MS = 250;

let seen = null;
const watchers = [];
const painters = [];

/** Keep what the clock says. */
export function keepClock(clock) {
  seen = { clock, at: performance.now() };
  for (const watcher of watchers) watcher(clock);
  tick();
}

/** @param {(clock: any) => void} watcher is told what the clock says, whenever it is read */
export function watchClock(watcher) {
  watchers.push(watcher);
  if (seen) watcher(seen.clock);
}

/** @param {(now: number) => void} paint shows the emulator's time, as it passes */
export function onTick(paint) {
  painters.push(paint);
  tick();
}

/** Show the time now. */
export function tick() {
  const now = emulatorNow();
  if (!Number.isNaN(now)) for (const paint of painters) paint(now);
}

setInterval(() => isRunning() && !document.hidden && tick(), TICK_MS);

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
