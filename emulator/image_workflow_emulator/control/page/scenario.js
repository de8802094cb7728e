/** The region `Scenario`: a choice from the library, what its rules have done, and what its timeline changes when. */

import { foundLink, placeOf } from "./places.js";
import { runningScenario, useScenario } from "./running.js";
import * as store from "./store.js";
import { actButton, copy, html, options, render } from "./ui.js";
import { createWorkbench } from "./workbench.js";

export const name = "Scenario";
export const place = "side";
export const concerns = ["scenario", "request", "clock", "reset"];

export function create(panel) {
  let chosen = "";
  /** The one that ran when it was last looked at. */
  let last = null;
  let wasRead = false;
  const workbench = createWorkbench(
    () => (library().has(chosen) ? chosen : ""),
    () => draw(),
  );

  /** By name, the descriptions of the library. */
  function library() {
    return new Map((store.library.last ?? []).map(({ name, description }) => [name, description ?? ""]));
  }

  function draw() {
    const running = runningScenario();
    const { scenario } = running;
    const known = library();
    // What begins or ends, here or elsewhere, is the choice too.
    if (scenario !== last) chosen = scenario ?? "";
    // A text that was written for another one is not that of this one; what is being written stays.
    if (scenario !== last && wasRead && !workbench.isOpen()) workbench.clear();
    last = scenario;
    wasRead ||= store.scenario.last !== null;
    const isOwn = chosen !== "" && !known.has(chosen);
    const choices = /** @type {[string, string][]} */ ([
      ["", "Choose a scenario"],
      ...(isOwn ? [[chosen, chosen]] : []),
    ]);
    const description = chosen === scenario ? running.description : known.get(chosen);
    const choose = ({ currentTarget }) => {
      chosen = currentTarget.value;
      if (!workbench.isOpen()) workbench.clear();
      draw();
    };
    const edit = () => (location.hash = placeOf(workbench.isOpen() ? "scenario" : "scenario/edit"));
    // There is one main act: to use what is chosen, or what is written.
    const use = { class: workbench.isOpen() ? "" : "primary", disabled: chosen === "" || isOwn };
    const view = html`
      <h2>${name}</h2>
      <div class="choice changes">
        <select id="scenario-choice" aria-label="Scenario of the library" value=${chosen} onChange=${choose}>
          ${options([...choices, ...known.keys()])}
        </select>
        ${actButton("Use", () => useScenario(chosen), use)}
        ${actButton("Off", () => useScenario(""), { disabled: scenario === null })}
        <button type="button" aria-expanded=${workbench.isOpen()} onClick=${edit}>Edit</button>
      </div>
      <p class="soft">${description}</p>
      ${workbench.view()}
      <div class="running">${store.scenario.last && shown(running)}</div>
    `;
    render(view, panel);
  }

  async function refresh() {
    await Promise.all([store.library.get(), store.scenario.get()]);
    draw();
  }

  store.scenario.watch(draw);
  draw();
  return {
    refresh,
    open(what) {
      const isOpen = what === "edit";
      const isKnown = isOpen ? Promise.all([store.library.get(), store.scenario.get()]) : Promise.resolve();
      void isKnown.catch(() => {}).then(() => workbench.show(isOpen));
    },
  };
}

function shown({ scenario, rules, timeline, text, file }) {
  if (scenario === null)
    return html`<p class="faint">None is running: the service does what its specification says.</p>`;
  return html`
    <p><span class="tag tag-rule">running</span> <strong>${scenario}</strong></p>
    ${rules.length > 0 && html`<h3>Rules</h3><ol class="rules">${rules.map(rule)}</ol>`}
    ${timeline.length > 0 && html`<h3>Timeline</h3><ol class="timeline">${withPresent(timeline)}</ol>`}
    ${text && textOf(text, file)}
  `;
}

function textOf(text, file) {
  const button = actButton("Copy", (button) => copy(text, button), { class: "quiet", "aria-label": "Copy the text" });
  return html`
    <details class="scenario-text">
      <summary>Text <span class="faint">${file}</span></summary>
      <div class="body">${button}<pre class="json" tabindex="0" role="group" aria-label="Text of the scenario">${text}</pre></div>
    </details>
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
