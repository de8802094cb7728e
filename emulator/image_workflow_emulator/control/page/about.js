/** The region `About ID`: all that is known about one thing, wherever it is named. */

import { actButton, copy } from "./acts.js";
import { badge, element, fill, follow, part } from "./dom.js";
import { ending } from "./journal.js";
import { json } from "./json-view.js";
import { orderOf } from "./orders.js";
import { picture, pictureActs } from "./pictures.js";
import { journal } from "./requests.js";
import { ask, Refusal } from "./service.js";
import { counted, sentence, timeOfDay } from "./words.js";
import { makeWork, updateWork } from "./work.js";

export const name = "About";
/** What follows the first `#` of an address is `/ID`. */
export const slug = "";
export const isOnDemand = true;
/** @type {"main"} */
export const place = "main";
export const concerns = ["request", "work", "team", "clock", "reset", "cleared"];

const MOST = 1000;
const MAX_SHOWN_REQUESTS = 100;

/** @param {HTMLElement} panel */
export function create(panel) {
  const title = element("h2", {});
  const copies = actButton("Copy id", () => copy(id, copies), { class: "quiet" });
  const kind = element("p", { class: "faint" });
  const content = element("div", { class: "about" });
  const list = element("div", { class: "works" });
  let id = "";
  panel.append(element("div", { class: "region-head" }, title, kind, copies), content);

  async function refresh() {
    if (!id) return;
    const wanted = id;
    const query = { limit: MOST };
    const [work, assets, teams] = await Promise.all([
      ask("GET", "work", { query }),
      ask("GET", "assets", { query }),
      ask("GET", "teams"),
    ]);
    const named = journal.naming(wanted);
    const answered = named.findLast((entry) => entry.made === wanted && (entry.status ?? 500) < 300);
    const answer = answered && (await ask("GET", `requests/${answered.sequence}`).catch(() => null));
    if (wanted !== id) return;
    const touches = (/** @type {unknown} */ thing) => JSON.stringify(thing).includes(wanted);
    const works = work.data.filter(touches);
    const asset = assets.data.find((/** @type {any} */ one) => one.id === wanted);
    const team = teams.data.find(touches);
    follow(list, works, (/** @type {import("./work.js").Work} */ work) => work.id, makeWork, updateWork);
    // A button that the keyboard is on stays.
    if (content.contains(document.activeElement)) return;
    fill(
      kind,
      sentence(answer?.response_body?.object ?? (asset ? "asset" : (works[0]?.id === wanted && works[0].object) || "")),
    );
    fill(
      content,
      works.length + named.length === 0 && !asset && !team && element("p", {}, "Nothing of this sandbox has this id."),
      asset && shownAsset(asset, works),
      team && part("Credits", element("p", {}, creditsOf(team)), "h3"),
      works.length > 0 && part("Work", list, "h3"),
      named.length > 0 && part("Requests", requests(named), "h3"),
      answer?.response_body && part("As it was last answered", json(answer.response_body, "Answer"), "h3"),
    );
  }

  return {
    refresh,
    /** @param {string} wanted */
    open(wanted) {
      if (wanted === id) return;
      id = wanted;
      panel.setAttribute("aria-label", `About ${id}`);
      fill(title, "About ", element("code", {}, id));
      fill(kind);
      fill(content);
      void refresh().catch((error) => {
        if (!(error instanceof Refusal)) throw error;
      });
    },
  };
}

/**
 * @param {import("./gallery.js").Asset} asset
 * @param {import("./work.js").Work[]} works
 */
function shownAsset(asset, works) {
  const alt = `${sentence(asset.source)} ${asset.format} of ${asset.team.name}, ${asset.id}`;
  const maker = works.find((work) => work.id === asset.source_generation_id);
  return element(
    "div",
    { class: "about-asset" },
    element("div", { class: "picture-frame" }, picture(asset.url, alt)),
    element(
      "div",
      {},
      element(
        "p",
        {},
        `${asset.format.toUpperCase()}, ${asset.width} × ${asset.height}, ${asset.source}, of ${asset.team.name}`,
      ),
      pictureActs(asset.url, alt),
      maker && orderOf(maker),
    ),
  );
}

/** @param {import("./teams.js").Team} team */
function creditsOf({ name: of, credits, reserved }) {
  return `${of} has ${counted(credits, "Credit")}, of which ${reserved} are reserved.`;
}

/** @param {import("./journal.js").Kept[]} named oldest first */
function requests(named) {
  const newest = named.slice(-MAX_SHOWN_REQUESTS).reverse();
  return element(
    "table",
    { class: "about-requests" },
    element("caption", { class: "visually-hidden" }, "The newest first"),
    element("tbody", {}, newest.map(row)),
  );
}

/** @param {import("./journal.js").Kept} entry */
function row(entry) {
  const { kind, sign } = ending(entry);
  return element(
    "tr",
    {},
    element("td", {}, badge(kind, sign, entry.status ?? "—")),
    element("td", {}, element("a", { href: `#requests/${entry.sequence}` }, `#${entry.sequence} ${entry.name}`)),
    element("td", {}, entry.code && element("span", { class: "code" }, entry.code)),
    element("td", { dir: "auto" }, entry.team),
    element("td", {}, element("time", { datetime: entry.at }, timeOfDay(entry.at))),
  );
}
