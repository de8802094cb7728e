/** The region `Work`: Operations and Generations on their way, slot by slot, with what they cost and what became of them. */

import { badge, element, field, fill, follow, setText } from "./dom.js";
import { idLink } from "./ids.js";
import { orderOf, recipeOf } from "./orders.js";
import { picture, pictureActs } from "./pictures.js";
import { changePlace, placeOf, showChips } from "./places.js";
import { ask } from "./service.js";
import { emulatorNow, isRunning, keepClock, watchClock } from "./time.js";
import { writeTimeline } from "./timeline.js";
import { counted, duration, sentence, timeOfDay } from "./words.js";

export const name = "Work";
/** @type {"main"} */
export const place = "main";
export const concerns = ["work", "reset", "clock", "scenario", "request"];

const LIMIT = 200;
const SIGNS = { queued: "◷", pending: "◷", processing: "◐", completed: "✓", failed: "✕" };
const KINDS = { queued: "waiting", pending: "waiting", processing: "again", completed: "good", failed: "failed" };

/**
 * @typedef {{code: string, message: string, retryable: boolean}} WorkError
 * @typedef {keyof typeof SIGNS} Status
 *
 * @typedef {object} Slot
 * @property {number} slot
 * @property {Status} status
 * @property {string | null} finishes_at
 * @property {string | null} asset_id
 * @property {string | null} url
 * @property {WorkError | null} error
 *
 * @typedef {object} Work
 * @property {string} id
 * @property {{name: string}} team
 * @property {Status} status
 * @property {{reserved: number, charged: number | null}} credits
 * @property {number | null} request
 * @property {{name: string | null, file: string | null, line: number | null} | null} rule
 * @property {string} created_at
 * @property {string | null} starts_at
 * @property {string | null} started_at
 * @property {string | null} finished_at
 * @property {string} [workflow]
 * @property {Slot[]} [outputs]
 * @property {string} [type]
 * @property {string | null} [finishes_at]
 * @property {WorkError | null} [error]
 * @property {string | null} [result_id]
 * @property {string[]} [pictures]
 * @property {any} [body]
 * @property {Record<string, string>} names of Products and ingredients that were ordered, by id
 */

/** @param {HTMLElement} panel */
export function create(panel) {
  const count = element("p", { class: "count faint" });
  const list = element("div", { class: "works" });
  const state = element(
    "select",
    { id: "work-state" },
    element("option", { value: "" }, "any"),
    ["queued", "processing", "completed", "failed"].map((value) => element("option", { value }, value)),
  );
  const chips = element("ul", { class: "chips", "aria-label": "Filters" });
  /** @param {Record<string, string>} filters */
  const filterBy = (filters) => changePlace(placeOf("work", filters));
  state.addEventListener("change", () => filterBy({ state: state.value }));
  const empty = element(
    "div",
    { class: "empty", hidden: true },
    element("p", { class: "empty-title" }, "No work yet"),
    element("p", {}, "Generations and Operations appear here as soon as they are admitted."),
    element("p", {}, "See some at once: ", element("a", { href: "#gallery" }, "first photoshoot"), "."),
  );
  const choice = field("State", state, "field-row push");
  panel.append(element("div", { class: "region-head" }, element("h2", {}, name), count, chips, choice), list, empty);

  let wanted = "";
  let narrowedTo = "";
  const tick = () => {
    const now = emulatorNow();
    if (!Number.isNaN(now))
      for (const lane of list.querySelectorAll("[data-ends]")) advance(/** @type {HTMLElement} */ (lane), now);
  };
  setInterval(() => isRunning() && panel.offsetParent && !document.hidden && tick(), 250);
  watchClock(tick);

  async function refresh() {
    const [{ data }, clock] = await Promise.all([ask("GET", "work", { query: { limit: LIMIT } }), ask("GET", "clock")]);
    keepClock(clock);
    const unfinished = data.filter((/** @type {Work} */ work) => !isFinal(work.status)).length;
    setText(
      count,
      data.length ? `${counted(data.length, "piece")}${unfinished ? `, ${unfinished} unfinished` : ""}` : "",
    );
    empty.hidden = data.length > 0;
    const chosen = data.filter((/** @type {Work} */ work) => !state.value || work.status === state.value);
    follow(list, chosen, (work) => work.id, makeWork, updateWork);
    tick();
    if (wanted) reveal();
  }

  function reveal() {
    const article = document.getElementById(`work-${wanted}`);
    if (!article) return;
    wanted = "";
    article.scrollIntoView({ block: "center" });
    article.focus({ preventScroll: true });
  }

  return {
    refresh,
    /** @param {string} id @param {Record<string, string>} filters */
    open(id, filters) {
      wanted = id;
      if (id) reveal();
      state.value = filters.state ?? "";
      showChips(chips, { state: state.value }, filterBy);
      if (state.value === narrowedTo) return;
      narrowedTo = state.value;
      void refresh().catch(() => {});
    },
  };
}

/** @param {Status} status */
function isFinal(status) {
  return status === "completed" || status === "failed";
}

/** @param {Work} work */
function titleOf(work) {
  const mode = work.body?.output_mode === "photoshoot" ? ": photoshoot" : "";
  return sentence(work.workflow ?? work.type ?? "work") + mode;
}

/** @param {Work} work */
export function makeWork(work) {
  const article = element(
    "article",
    { class: "work", id: `work-${work.id}`, tabindex: -1, "aria-label": `${titleOf(work)} ${work.id}` },
    element("div", { class: "work-head" }),
    element("div", { class: "slots" }),
    element("div", { class: "work-foot" }),
    element("details", { class: "work-timeline", "aria-label": "Timeline", open: !isFinal(work.status) }),
  );
  const details = /** @type {HTMLDetailsElement} */ (article.lastElementChild);
  const content = element("ol", { class: "sequence" });
  details.append(element("summary", {}, "Timeline"), content);
  details.addEventListener("toggle", () => details.open && !content.firstChild && latest.get(article)?.());
  return article;
}

/** How to write the timeline of an article that is opened later. @type {WeakMap<Element, () => void>} */
const latest = new WeakMap();

/**
 * @param {HTMLElement} article
 * @param {Work} work
 */
export function updateWork(article, work) {
  const [head, slots, foot, details] = article.children;
  const ends = work.finished_at && duration(Date.parse(work.finished_at) - Date.parse(work.created_at));
  const signature = JSON.stringify(work);
  const isSame = article.dataset.signature === signature;
  article.dataset.signature = signature;
  if (!isSame) {
    fill(
      head,
      element(
        "div",
        { class: "work-title" },
        element("h3", {}, titleOf(work)),
        element(
          "p",
          { class: "faint work-line" },
          element("code", {}, work.workflow ?? work.type ?? ""),
          idLink(work.id),
          element("span", { dir: "auto" }, work.team.name),
          element("time", { datetime: work.created_at, title: work.created_at }, timeOfDay(work.created_at)),
          ends && element("span", {}, `took ${ends}`),
        ),
      ),
      element(
        "div",
        { class: "work-facts" },
        element("span", { class: "tag" }, `reserved ${work.credits.reserved}`),
        element("span", { class: "tag" }, `charged ${work.credits.charged ?? 0}`),
        badge(KINDS[work.status], SIGNS[work.status], work.status),
        work.request && element("a", { class: "button button-small", href: `#requests/${work.request}` }, "Request"),
      ),
      orderOf(work),
    );
  }
  const write = () => writeTimeline(/** @type {Element} */ (details.lastElementChild), work);
  latest.set(article, write);
  if (/** @type {HTMLDetailsElement} */ (details).open) write();
  if (isSame) return;
  follow(
    slots,
    slotsOf(work),
    (slot) => String(slot.slot),
    makeSlot,
    (tile, slot) => updateSlot(tile, slot, work),
  );
  const { rule } = work;
  const file = rule?.file && `${rule.file}${rule.line ? `, line ${rule.line}` : ""}`;
  fill(
    foot,
    work.error && slotsOf(work).length === 0 && problem(work.error),
    rule &&
      element(
        "p",
        { class: "work-rule" },
        element("span", { class: "tag tag-rule" }, "Scenario"),
        ` Rule ${rule.name ?? ""} `,
        file && element("code", {}, file),
      ),
  );
}

/** @param {Work} work @returns {Slot[]} */
function slotsOf(work) {
  if (work.outputs) return work.outputs;
  const { status, finishes_at = null, error = null, pictures = [] } = work;
  return [{ slot: 0, status, finishes_at, error, asset_id: null, url: pictures[0] ?? null }];
}

/** @param {WorkError} error */
function problem(error) {
  return element("p", { class: "slot-error" }, element("code", {}, error.code), element("span", {}, error.message));
}

/** @param {Slot} slot */
function makeSlot(slot) {
  return element(
    "div",
    { class: "slot", "data-slot": slot.slot },
    element("div", { class: "slot-picture" }),
    element("div", { class: "slot-text" }),
  );
}

/**
 * @param {HTMLElement} tile
 * @param {Slot} slot
 * @param {Work} work
 */
function updateSlot(tile, slot, work) {
  const state = `${slot.status} ${slot.url} ${slot.finishes_at}`;
  if (tile.dataset.state === state) return;
  tile.dataset.state = state;
  const [frame, text] = tile.children;
  const label = slot.slot ? `Output ${slot.slot}` : "Result";
  const of = slot.slot ? `${label} of ${work.outputs?.length}` : label;
  const alt = `${of}: ${titleOf(work)}, ${work.team.name}`;
  tile.className = `slot slot-${slot.status}`;
  if (slot.url) {
    fill(frame, picture(slot.url, alt));
  } else {
    fill(
      frame,
      element(
        "span",
        { class: "slot-sign", "aria-hidden": "true" },
        isFinal(slot.status) && !slot.error ? "–" : SIGNS[slot.status],
      ),
    );
  }
  if (isFinal(slot.status)) {
    fill(
      text,
      element("span", { class: "slot-label" }, label, element("span", { class: "faint" }, ` ${slot.status}`)),
      slot.asset_id && idLink(slot.asset_id),
      slot.url && pictureActs(slot.url, alt, recipeOf(work)),
      slot.error && problem(slot.error),
    );
    return;
  }
  const begins = slot.status === "processing" && work.starts_at ? work.starts_at : work.created_at;
  fill(
    text,
    element("span", { class: "slot-label" }, label, element("span", { class: "faint slot-wait" }, ` ${slot.status}`)),
    slot.finishes_at
      ? element(
          "div",
          {
            class: "lane",
            role: "progressbar",
            "aria-label": of,
            "aria-valuemin": 0,
            "aria-valuemax": 100,
            "data-begins": Date.parse(begins),
            "data-ends": Date.parse(slot.finishes_at),
          },
          element("span", { class: "lane-fill" }),
        )
      : element("span", { class: "faint" }, "stalled: it never ends by itself"),
  );
}

/**
 * Move a slot's bar to where it is by now.
 * @param {HTMLElement} lane
 * @param {number} now
 */
function advance(lane, now) {
  const begins = Number(lane.dataset.begins);
  const ends = Number(lane.dataset.ends);
  const share = Math.min(1, Math.max(0, (now - begins) / Math.max(1, ends - begins)));
  lane.setAttribute("aria-valuenow", String(Math.round(share * 100)));
  lane.style.setProperty("--share", share.toFixed(3));
  const wait = lane.parentElement?.querySelector(".slot-wait");
  if (wait) setText(wait, ends > now ? ` in ${duration(ends - now)}` : " due");
}
