/** The region `Scenario`: a choice from the library, what its rules have done, and what its timeline changes when. */

import { actButton } from "./acts.js";
import { element, fill, setText } from "./dom.js";
import { placeOf } from "./places.js";
import { ask, Refusal } from "./service.js";
import { createWorkbench } from "./workbench.js";

export const name = "Scenario";
/** @type {"side"} */
export const place = "side";
export const concerns = ["scenario", "request", "work", "clock", "reset"];

/** @param {HTMLElement} panel */
export function create(panel) {
  const choice = element("select", { id: "scenario-choice", "aria-label": "Scenario of the library" });
  const description = element("p", { class: "soft" });
  const own = element("option", { hidden: true, value: "" }, "Choose a scenario");
  const running = element("div", { class: "running" });
  /** @type {Map<string, string>} */
  const library = new Map();
  /** @type {string | null} the running one, when it was last seen */
  let last = null;

  const describeChoice = () => setText(description, library.get(choice.value) ?? "");
  const workbench = createWorkbench(
    () => (own.hidden || choice.value !== own.value ? choice.value : ""),
    () => refresh(),
  );
  choice.addEventListener("change", () => {
    describeChoice();
    if (workbench.root.hidden) workbench.clear();
  });
  const edit = element(
    "button",
    {
      type: "button",
      "aria-expanded": "false",
      click: () => (location.hash = placeOf(workbench.root.hidden ? "scenario/edit" : "scenario")),
    },
    "Edit",
  );

  panel.append(
    element("h2", {}, name),
    element(
      "div",
      { class: "choice" },
      choice,
      actButton(
        "Use",
        async () => {
          if (!choice.value) throw new Refusal(422, "invalid_scenario", "Choose a scenario of the library first");
          if (choice.value === own.value && !own.hidden)
            throw new Refusal(422, "invalid_scenario", `${choice.value} is running, and not of the library`);
          const used = await ask("PUT", "scenario", { json: { use: choice.value } });
          await refresh();
          return `${used.scenario} is running`;
        },
        { class: "primary" },
      ),
      actButton("Off", async () => {
        await ask("DELETE", "scenario");
        await refresh();
        return "No scenario is running";
      }),
      edit,
    ),
    description,
    workbench.root,
    running,
  );

  async function readLibrary() {
    const { data } = await ask("GET", "/scenarios");
    for (const entry of data) library.set(entry.name, entry.description ?? "");
    fill(
      choice,
      own,
      data.map((/** @type {{name: string}} */ entry) => element("option", { value: entry.name }, entry.name)),
    );
  }

  /** @param {string} running */
  function choose(running) {
    own.hidden = library.has(running) && running !== own.value;
    own.value = running;
    setText(own, running);
    choice.value = running;
  }

  async function refresh() {
    if (library.size === 0) await readLibrary();
    const scenario = await ask("GET", "scenario");
    // What was started elsewhere is the choice too.
    if (scenario.scenario !== null && scenario.scenario !== last) choose(scenario.scenario);
    last = scenario.scenario;
    if (scenario.scenario !== null) library.set(scenario.scenario, scenario.description ?? "");
    describeChoice();
    show(running, scenario);
  }
  return {
    refresh,
    /** @param {string} what */
    open(what) {
      const isOpen = what === "edit";
      edit.setAttribute("aria-expanded", String(isOpen));
      void (isOpen && library.size === 0 ? refresh() : Promise.resolve()).finally(() => workbench.show(isOpen));
    },
  };
}

/**
 * @param {HTMLElement} running
 * @param {any} scenario
 */
function show(running, scenario) {
  const { scenario: title, rules, timeline = [] } = scenario;
  if (title === null) {
    fill(running, element("p", { class: "faint" }, "None is running: the service does what its specification says."));
    return;
  }
  fill(
    running,
    element("p", {}, element("span", { class: "tag tag-rule" }, "running"), " ", element("strong", {}, title)),
    rules.length > 0 && element("h3", {}, "Rules"),
    rules.length > 0 && element("ol", { class: "rules" }, rules.map(describeRule)),
    timeline.length > 0 && element("h3", {}, "Timeline"),
    timeline.length > 0 && element("ol", { class: "timeline" }, withPresent(timeline)),
  );
}

/** @param {{name: string, matched: number, fired: number}} rule */
function describeRule({ name: title, matched, fired }) {
  return element(
    "li",
    { class: fired ? "rule has-fired" : "rule" },
    element("span", { class: "rule-name" }, title),
    element("span", { class: "rule-counts" }, `matched ${matched}, fired ${fired}`),
  );
}

/** @param {any[]} timeline */
function withPresent(timeline) {
  const next = timeline.findIndex((entry) => !entry.done_at);
  const present = element("li", { class: "present", "aria-current": "time" }, "now");
  const items = timeline.map((entry) =>
    element(
      "li",
      { class: entry.done_at ? "change is-done" : "change" },
      element("span", { class: "change-at" }, `${entry.done_at ? "✓ " : ""}${when(entry)}`),
      element(
        "span",
        {},
        Object.entries(entry.set)
          .map(([key, value]) => `${key} ${value}`)
          .join(", "),
      ),
      entry.line && element("span", { class: "faint" }, `line ${entry.line}`),
    ),
  );
  items.splice(next < 0 ? items.length : next, 0, present);
  return items;
}

/** @param {any} entry */
function when(entry) {
  if (entry.at !== undefined && entry.at !== null) return String(entry.at);
  const operation = entry.after?.match?.operation;
  return `after ${operation ? [operation].flat().join(", ") : "a request"}${entry.after?.nth ? ` (${entry.after.nth})` : ""}`;
}
