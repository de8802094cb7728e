/** The region `Clock`: the emulator's time, its moves, its mode, and what will happen next. */

import { act, actButton } from "./acts.js";
import { element, field, follow, setText } from "./dom.js";
import { linked } from "./ids.js";
import { ask } from "./service.js";
import { emulatorNow, isRunning, keepClock, lastClock, watchClock } from "./time.js";
import { counted, duration } from "./words.js";

export const name = "Clock";
/** @type {"side"} */
export const place = "side";
export const concerns = ["clock", "work", "reset", "scenario", "request"];

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
};
const MAX_SHOWN_EVENTS = 100;

/** @param {HTMLElement} panel */
export function create(panel) {
  const date = element("span", { class: "clock-date" });
  const time = element("span", { class: "clock-time" });
  const mode = element(
    "select",
    { id: "mode" },
    Object.entries(MODES).map(([value, text]) => element("option", { value }, text)),
  );
  const meaning = element("p", { class: "faint" });
  const events = element("ol", { class: "events" });
  const pending = element("p", { class: "faint" });

  /** @param {Record<string, unknown>} move */
  const advance = (move) => async () => {
    const moved = await ask("POST", "clock/advance", { json: move });
    keepClock({ ...lastClock(), ...moved });
    await refresh();
    return `${counted(moved.fired, "event")} happened`;
  };

  mode.addEventListener(
    "change",
    () =>
      void act(mode, async () => {
        const rate = /^x(.+)$/.exec(mode.value)?.[1];
        try {
          await ask("PUT", "clock", { json: rate ? { mode: "real", rate: Number(rate) } : { mode: mode.value } });
        } finally {
          await refresh();
        }
      }),
  );

  panel.append(
    element("h2", {}, name),
    element("p", { class: "clock-face" }, date, time),
    element(
      "div",
      { class: "buttons clock-moves" },
      actButton("+10 s", advance({ seconds: 10 })),
      actButton("+1 min", advance({ seconds: 60 })),
      actButton("Next event", advance({ next_event: true })),
      actButton("Run until idle", advance({ until_idle: true })),
    ),
    field("Mode", mode),
    meaning,
    element("h3", {}, "Coming events"),
    pending,
    events,
  );

  const tick = () => {
    const now = emulatorNow();
    if (Number.isNaN(now)) return;
    const text = new Date(now).toISOString();
    setText(date, text.slice(0, 10));
    setText(time, text.slice(11, 19));
    for (const item of events.children) {
      const due = Number(item.getAttribute("data-due"));
      const wait = item.querySelector(".event-wait");
      if (wait) setText(wait, due <= now ? "now" : `in ${duration(due - now)}`);
    }
  };
  setInterval(() => isRunning() && !document.hidden && tick(), 250);

  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let alarm;
  watchClock((clock) => {
    const chosen = clock.mode === "real" && clock.rate !== 1 ? `x${clock.rate}` : clock.mode;
    if (![...mode.options].some((option) => option.value === chosen)) {
      mode.append(element("option", { value: chosen }, `real, ${clock.rate} times as fast`));
    }
    if (document.activeElement !== mode) mode.value = chosen;
    setText(meaning, MEANINGS[clock.mode]);
    setText(pending, clock.pending ? "" : "Nothing is due.");
    pending.hidden = clock.pending > 0;
    follow(
      events,
      (clock.events ?? []).slice(0, MAX_SHOWN_EVENTS),
      (event) => `${event.at} ${event.what} ${event.id}`,
      (event) =>
        element(
          "li",
          { class: "event", "data-due": Date.parse(event.at) },
          element("span", { class: "event-what" }, event.what),
          element("span", { class: "event-wait" }),
          element("span", { class: "event-id faint" }, linked(event.id ?? "")),
          element("time", { class: "event-at faint", datetime: event.at }, event.at.slice(11, 19)),
        ),
    );
    tick();
    clearTimeout(alarm);
    // Nothing happens by itself in the emulator: a request applies the events that are due.
    if (clock.mode === "real" && clock.next_event_at) {
      const wait = (Date.parse(clock.next_event_at) - Date.parse(clock.now)) / clock.rate;
      if (wait < 86_400_000) alarm = setTimeout(() => void refresh().catch(() => {}), Math.max(wait + 20, 50));
    }
  });

  async function refresh() {
    keepClock(await ask("GET", "clock"));
  }
  return { refresh };
}
