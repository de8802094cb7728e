/** The emulator's time between two looks at its clock: it goes on by itself where the clock does. */

import { clock } from "./store.js";

const TICK_MS = 250;

/** When the clock was looked at, by the browser's own. */
let seenAt = 0;
const painters = [];

clock.watch(() => {
  seenAt = performance.now();
  tick();
});

/** @param {(now: number) => void} paint shows the emulator's time, as it passes; NaN while it is not known */
export function onTick(paint) {
  painters.push(paint);
  tick();
}

/** Show the time now. */
export function tick() {
  const now = emulatorNow();
  for (const paint of painters) paint(now);
}

setInterval(() => isRunning() && !document.hidden && tick(), TICK_MS);

/** The emulator's time now, in milliseconds since 1970; NaN while nothing is known. */
export function emulatorNow() {
  if (clock.last === null) return NaN;
  const { now, mode, rate } = clock.last;
  const passed = mode === "real" ? (performance.now() - seenAt) * rate : 0;
  return Date.parse(now) + passed;
}

/** Whether the emulator's time goes on by itself. */
export function isRunning() {
  return clock.last?.mode === "real";
}
