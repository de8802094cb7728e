/** The running scenario: begun and ended for all parts of the page that show it. */

import { ask } from "./service.js";
import { scenario } from "./store.js";

const NONE = { scenario: null, description: null, rules: [], timeline: [], team_scenarios: [], text: "", file: "" };

/** The scenario as it was read last. */
export function runningScenario() {
  return scenario.last ?? NONE;
}

/** Use a scenario of the library, or with an empty name, none. */
export async function useScenario(name) {
  if (name) await ask("PUT", "scenario", { json: { use: name } });
  else await ask("DELETE", "scenario");
  const running = await scenario.renew();
  return running.scenario ? `${running.scenario} is running` : "No scenario is running";
}
