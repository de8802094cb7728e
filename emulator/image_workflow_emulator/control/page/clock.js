/** The region `Clock`: the emulator's time, its moves, its mode, and what happens next. */

import { linked } from "./ids.js";
import { ask } from "./service.js";
import { clock } from "./store.js";
import { onTick } from "./time.js";
import { act, actButton, field, html, options, render } from "./ui.js";
import { counted, duration } from "./words.js";

export const name = "Clock";
export const place = "side";
export const concerns = ["clock", "work", "write", "scenario", "reset"];

const MODES = {
  real: "real",
  x10: "real, 10 times as fast",
  x60: "real, 60 times as fast",
  manual: "manual",
  auto: "auto",
};
const MEANINGS = {
  real: "Follows the wall clock.",
  manual: "Stands still until it is moved.",
  auto: "Stands still, and skips every wait that an answer asks of a client.",
  saved: "As it was when the file was written.",
};
const DAY_MS = 86_400_000;

export function create(panel) {
  let now = NaN;

  const advance = (move) => async () => {
    const moved = await ask("POST", "clock/advance", { json: move });
    clock.keep(moved);
    return `${counted(moved.fired, "event")} happened`;
  };

  function changeMode({ currentTarget: mode }) {
    const rate = /^x(.+)$/.exec(mode.value)?.[1];
    const json = rate ? { mode: "real", rate: Number(rate) } : { mode: mode.value };
    void act(mode, () => ask("PUT", "clock", { json }).finally(() => clock.renew()));
  }

  function draw() {
    const [date = "", time = ""] = Number.isNaN(now) ? [] : new Date(now).toISOString().slice(0, 19).split("T");
    const { mode = "", rate = 1, pending = 0, events: [next] = [] } = clock.last ?? {};
    const chosen = mode === "real" && rate !== 1 ? `x${rate}` : mode;
    const modes = { ...MODES };
    if (!mode) modes[""] = "";
    else if (!(chosen in MODES)) modes[chosen] = `real, ${rate} times as fast`;
    const wait = next && duration(Math.max(0, Date.parse(next.at) - now));
    const more = pending > 1 && html`<span class="faint">, ${counted(pending - 1, "event")} after it</span>`;
    const choice = html`<select id="mode" value=${chosen} onChange=${changeMode}>
      ${options(Object.entries(modes))}
    </select>`;
    const view = html`
      <h2>${name}</h2>
      <p class="clock-face"><span class="clock-date">${date}</span><span class="clock-time">${time}</span></p>
      <div class="buttons clock-moves changes">
        ${actButton("+10 s", advance({ seconds: 10 }))}${actButton("+1 min", advance({ seconds: 60 }))}
        ${actButton("Next event", advance({ next_event: true }))}
        ${actButton("Run until idle", advance({ until_idle: true }))}
      </div>
      ${field("Mode", "mode", choice, "changes")}
      <p class="faint clock-meaning">${clock.last && MEANINGS[mode]}</p>
      <p class="next-event">
        ${next && [`${next.what} in ${wait}: `, linked(next.id), more]}
        ${clock.last?.events.length === 0 && html`<span class="faint">Nothing is due.</span>`}
      </p>
    `;
    render(view, panel);
  }

  onTick((instant) => {
    now = instant;
    draw();
  });

  let alarm;
  clock.watch((seen) => {
    clearTimeout(alarm);
    // Nothing happens by itself in the emulator: a request applies the events that are due.
    if (seen?.mode !== "real" || !seen.next_event_at) return;
    const wait = (Date.parse(seen.next_event_at) - Date.parse(seen.now)) / seen.rate;
    if (wait < DAY_MS) alarm = setTimeout(() => void clock.renew().catch(() => {}), Math.max(wait + 20, 50));
  });
  return { refresh: () => clock.get() };
}
