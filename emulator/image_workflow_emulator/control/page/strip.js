/** The strip that is always there: the time, the running scenario, and readings of the sandbox that are not plain. */

import { element, fill, setText } from "./dom.js";
import { ask } from "./service.js";
import { emulatorNow, isRunning, keepClock, watchClock } from "./time.js";
import { counted } from "./words.js";

export const concerns = ["clock", "scenario", "reset", "work"];

/**
 * @param {HTMLElement} strip
 * @returns {() => Promise<void>} reads all of it again
 */
export function create(strip) {
  const time = element("time", {}, "Clock"); // until they are read, the links have the names of where they lead
  const mode = element("span", { class: "faint" });
  const scenario = element("a", { href: "#scenario" }, "Scenario");
  const readings = element("span", {});
  strip.append(element("a", { href: "#clock" }, time, " ", mode), scenario, readings);

  const tick = () => {
    const now = emulatorNow();
    if (!Number.isNaN(now)) setText(time, new Date(now).toISOString().slice(0, 19).replace("T", " "));
  };
  setInterval(() => isRunning() && !document.hidden && tick(), 250);
  watchClock((clock) => {
    setText(mode, clock.mode === "real" && clock.rate !== 1 ? `x${clock.rate}` : clock.mode);
    tick();
  });

  return async () => {
    const [clock, running, { data }] = await Promise.all([
      ask("GET", "clock"),
      ask("GET", "scenario"),
      ask("GET", "readings"),
    ]);
    keepClock(clock);
    const own = running.team_scenarios.map((/** @type {any} */ one) => `${one.scenario} for ${one.team.name}`);
    const names = [running.scenario, ...own].filter(Boolean);
    setText(scenario, names.length ? `Scenario ${names.join(", ")}` : "No scenario");
    scenario.className = names.length ? "tag tag-rule" : "faint";
    const chosen = data.filter((/** @type {{chosen: boolean}} */ reading) => reading.chosen);
    const title = chosen.map((/** @type {any} */ one) => `${one.decision}=${one.id}: ${one.emulator}`).join("\n");
    fill(
      readings,
      chosen.length > 0 &&
        element("span", { class: "tag tag-reading", title }, counted(chosen.length, "other reading")),
    );
  };
}
