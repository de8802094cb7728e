/** The running scenario: read once for all parts of the page that show it, so that they say the same. */

import { ask } from "./service.js";

/** As the control plane answers it. @type {any} */
let running = { scenario: null, description: null, rules: [], timeline: [], team_scenarios: [] };
const watchers = [];

/** The scenario as it was read last. */
export function runningScenario() {
  return running;
}

export function watchScenario(watcher) {
  watchers.push(watcher);
}

/** Read it again. */
export async function readScenario() {
  running = await ask("GET", "scenario");
  for (const watcher of watchers) watcher();
}

/** Use a scenario of the library, or with an empty name, none. */
export async function useScenario(name) {
  if (name) await ask("PUT", "scenario", { json: { use: name } });
  else await ask("DELETE", "scenario");
  await readScenario();
  return running.scenario ? `${running.scenario} is running` : "No scenario is running";
}
