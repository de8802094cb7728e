/** The strip that is always there: the time, the running scenario, and readings of the sandbox that are not plain. */

import { runningScenario } from "./running.js";
import { clock, readings, scenario } from "./store.js";
import { onTick } from "./time.js";
import { html, render } from "./ui.js";
import { counted } from "./words.js";

export const concerns = ["clock", "scenario", "work", "reset"];

/** @returns {() => Promise<unknown>} reads all of it again */
export function create(strip) {
  let time = "Clock"; // until it is read, the link has the name of where it leads

  function draw() {
    const { mode = "", rate = 1 } = clock.last ?? {};
    const names = namesOfScenarios();
    const chosen = (readings.last ?? []).filter((reading) => reading.chosen);
    const title = chosen.map((one) => `${one.decision}=${one.id}: ${one.emulator}`).join("\n");
    const view = html`
      <a href="#clock">
        <time>${time}</time> <span class="faint">${mode === "real" && rate !== 1 ? `x${rate}` : mode}</span>
      </a>
      <a href="#scenario" class=${names.length ? "tag tag-rule" : "faint"}>
        ${scenario.last && names.length === 0 ? "No scenario" : `Scenario ${names.join(", ")}`}
      </a>
      ${
        chosen.length > 0 &&
        html`<span class="tag tag-reading" title=${title}>${counted(chosen.length, "other reading")}</span>`
      }
    `;
    render(view, strip);
  }

  /** The scenario of all Teams, then those of single ones. */
  function namesOfScenarios() {
    const running = runningScenario();
    const own = running.team_scenarios.map((one) => `${one.scenario} for ${one.team.name}`);
    return [running.scenario, ...own].filter(Boolean);
  }

  onTick((now) => {
    time = Number.isNaN(now) ? "Clock" : new Date(now).toISOString().slice(0, 19).replace("T", " ");
    draw();
  });
  scenario.watch(draw);
  readings.watch(draw);
  return () => Promise.all([clock.get(), scenario.get(), readings.get()]);
}
