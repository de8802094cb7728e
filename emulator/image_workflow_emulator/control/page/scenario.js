/** The region `Scenario`: a choice from the library, what its rules have done, and what its timeline changes when. */

import { placeOf } from "./places.js";
import { foundLink } from "./requests.js";
import { readScenario, runningScenario, useScenario, watchScenario } from "./running.js";
import { ask } from "./service.js";
import { actButton, html, options, render } from "./ui.js";
import { createWorkbench } from "./workbench.js";

export const name = "Scenario";
export const place = "side";
export const concerns = ["scenario", "request", "work", "clock", "reset"];

export function create(panel) {
  /** By name, the descriptions of the library. */
  let library = new Map();
  let chosen = "";
  /** The one that ran when it was last looked at. */
  let last = null;
  const workbench = createWorkbench(
    () => (library.has(chosen) ? chosen : ""),
    () => draw(),
  );

  function draw() {
    const running = runningScenario();
    const { scenario } = running;
    // What begins or ends, here or elsewhere, is the choice too.
    if (scenario !== last) chosen = scenario ?? "";
    last = scenario;
    const isOwn = chosen !== "" && !library.has(chosen);
    const choices = /** @type {[string, string][]} */ ([
      ["", "Choose a scenario"],
      ...(isOwn ? [[chosen, chosen]] : []),
    ]);
    const description = chosen === scenario ? running.description : library.get(chosen);
    const choose = ({ currentTarget }) => {
      chosen = currentTarget.value;
      if (!workbench.isOpen()) workbench.clear();
      draw();
    };
    const edit = () => (location.hash = placeOf(workbench.isOpen() ? "scenario" : "scenario/edit"));
    const view = html`
      <h2>${name}</h2>
      <div class="choice">
        <select id="scenario-choice" aria-label="Scenario of the library" value=${chosen} onChange=${choose}>
          ${options([...choices, ...library.keys()])}
        </select>
        ${actButton("Use", () => useScenario(chosen), { class: "primary", disabled: chosen === "" || isOwn })}
        ${actButton("Off", () => useScenario(""), { disabled: scenario === null })}
        <button type="button" aria-expanded=${workbench.isOpen()} onClick=${edit}>Edit</button>
      </div>
      <p class="soft">${description}</p>
      ${workbench.view()}
      <div class="running">${scenario === null ? NONE : shown(running)}</div>
    `;
    render(view, panel);
  }

  async function refresh() {
    if (library.size === 0) {
      const { data } = await ask("GET", "/scenarios");
      library = new Map(data.map(({ name, description }) => [name, description ?? ""]));
    }
    await readScenario();
    draw();
  }

  watchScenario(draw);
  draw();
  return {
    refresh,
    open(what) {
      const isOpen = what === "edit";
      void (isOpen && library.size === 0 ? refresh() : Promise.resolve()).finally(() => workbench.show(isOpen));
    },
  };
}

const NONE = html`<p class="faint">None is running: the service does what its specification says.</p>`;

function shown({ scenario, rules, timeline }) {
  return html`
    <p><span class="tag tag-rule">running</span> <strong>${scenario}</strong></p>
    ${rules.length > 0 && html`<h3>Rules</h3><ol class="rules">${rules.map(rule)}</ol>`}
    ${timeline.length > 0 && html`<h3>Timeline</h3><ol class="timeline">${withPresent(timeline)}</ol>`}
  `;
}

function rule({ name, matched, fired }) {
  const requests = fired ? foundLink(`fired ${fired}`, `rule:"${name.replaceAll('"', "")}"`) : "fired 0";
  return html`
    <li class=${fired ? "rule has-fired" : "rule"} key=${name}>
      <span class="rule-name">${name}</span><span class="rule-counts">matched ${matched}, ${requests}</span>
    </li>
  `;
}

function withPresent(timeline) {
  const next = timeline.findIndex((entry) => !entry.done_at);
  const items = timeline.map((entry) => {
    const changes = Object.entries(entry.set).map(([key, value]) => `${key} ${value}`);
    return html`
      <li class=${entry.done_at ? "change is-done" : "change"}>
        <span class="change-at">${entry.done_at ? "✓ " : ""}${when(entry)}</span><span>${changes.join(", ")}</span>
        ${entry.line && html`<span class="faint">line ${entry.line}</span>`}
      </li>
    `;
  });
  items.splice(next < 0 ? items.length : next, 0, html`<li class="present" aria-current="time">now</li>`);
  return items;
}

function when({ at, after }) {
  if (at !== undefined && at !== null) return String(at);
  const operations = [after?.match?.operation ?? "a request"].flat().join(", ");
  return `after ${operations}${after?.nth ? ` (${after.nth})` : ""}`;
}
