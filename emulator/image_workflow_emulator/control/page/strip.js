/** The strip that is always there: the time, the running scenario, and readings of the sandbox that are not plain. */

import { readScenario, runningScenario, watchScenario } from "./running.js";
import { ask } from "./service.js";
import { keepClock, lastClock, onTick } from "./time.js";
import { html, render } from "./ui.js";
import { counted } from "./words.js";

export const concerns = ["clock", "scenario", "reset", "work"];

/** @returns {() => Promise<void>} reads all of it again */
export function create(strip) {
  let time = "Clock"; // until it is read, the link has the name of where it leads
  let chosen = [];

  function draw() {
    const { mode = "", rate = 1 } = lastClock() ?? {};
    const running = runningScenario();
    const own = running.team_scenarios.map((one) => `${one.scenario} for ${one.team.name}`);
    const names = [running.scenario, ...own].filter(Boolean);
    const title = chosen.map((one) => `${one.decision}=${one.id}: ${one.emulator}`).join("\n");
    const view = html`
      <a href="#clock">
        <time>${time}</time> <span class="faint">${mode === "real" && rate !== 1 ? `x${rate}` : mode}</span>
      </a>
      <a href="#scenario" class=${names.length ? "tag tag-rule" : "faint"}>
        ${names.length ? `Scenario ${names.join(", ")}` : "No scenario"}
      </a>
      ${
        chosen.length > 0 &&
        html`<span class="tag tag-reading" title=${title}>${counted(chosen.length, "other reading")}</span>`
      }
    `;
    render(view, strip);
  }

  onTick((now) => {
    time = new Date(now).toISOString().slice(0, 19).replace("T", " ");
    draw();
  });
  watchScenario(draw);
  return async () => {
    const [clock, { data }] = await Promise.all([ask("GET", "clock"), ask("GET", "readings"), readScenario()]);
    chosen = data.filter((reading) => reading.chosen);
    keepClock(clock);
  };
}
