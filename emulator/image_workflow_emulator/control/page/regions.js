/**
 * The regions of the page, in the order of their tabs. A new one is a file that exports the same, and its line here.
 */

import * as about from "./about.js";
import * as clock from "./clock.js";
import * as conduct from "./conduct.js";
import * as coverage from "./coverage.js";
import * as gallery from "./gallery.js";
import * as help from "./help.js";
import * as requests from "./requests.js";
import * as sandboxes from "./sandboxes.js";
import * as scenario from "./scenario.js";
import * as teams from "./teams.js";
import * as work from "./work.js";

/**
 * @typedef {object} RegionFile
 * @property {string} name its accessible name and that of its tab
 * @property {string} [slug] what the page's address calls it, where that is not its name in small letters
 * @property {boolean} [isAlwaysFresh] whether it is read also while it is not seen, since others look into it
 * @property {boolean} [isOnDemand] whether its tab is there only once it was opened
 * @property {"main" | "side"} place behind its tab, or beside the others where there is room
 * @property {string[]} concerns the kinds of live events after which it looks again: also `write`, a request that may
 *   have changed something, `journal`, of which earlier requests were read, and `shown`, it has come to light
 * @property {(panel: HTMLElement) => Region} create
 *
 * @typedef {object} Region
 * @property {() => Promise<unknown>} refresh reads everything again
 * @property {(event: {kind: string, data: any}) => void} [hear] takes a live event itself
 * @property {(place: string, filters: Record<string, string>) => unknown} [open] shows one thing in it, and narrows it
 *   down: what follows its name in the page's address; true if it has to be read for that
 */

export const REGIONS = [requests, work, gallery, teams, sandboxes, clock, scenario, conduct, coverage, about, help];
