/** The region `Requests`: every request as it comes and goes, filtered, and one of them explained beside the list. */

import { askingButton } from "./acts.js";
import { badge, byId, element, fill, setText } from "./dom.js";
import { Grid } from "./grid.js";
import { idLink, isId } from "./ids.js";
import { ending, isStatusWord, Journal } from "./journal.js";
import { changePlace, placeOf, showChips } from "./places.js";
import { createDetails } from "./request-details.js";
import { ask, referenceAddress, shownSandbox } from "./service.js";
import { counted, duration, fraction, timeOfDay } from "./words.js";

export const name = "Requests";
/** @type {"main"} */
export const place = "main";
export const concerns = ["reset", "cleared"];
export const isAlwaysFresh = true;

const FIRST_LOOK = 200;
const MAX_LOOK = 1000;
const HIDDEN_PAUSE_MS = 500;
const TITLE = document.title;
const COLUMNS = [
  { name: "Status", class: "cell-status" },
  { name: "Operation", class: "cell-operation" },
  { name: "Team", class: "cell-team" },
  { name: "Time", class: "cell-time" },
  { name: "Took", class: "cell-took" },
];

/** The journal that the page keeps: also other regions look into it. */
export const journal = new Journal();

/** @param {HTMLElement} panel */
export function create(panel) {
  const status = field("Status", "text", "402, 4xx");
  const operation = field("Operation", "text", "createUpload");
  const search = field("Search", "search", "Path, code, Team, id…");
  const fields = { status: status.input, operation: operation.input, search: search.input };
  const chips = element("ul", { class: "chips", "aria-label": "Filters" });
  const offer = element("p", { class: "offer", "aria-live": "polite" });
  const news = element("button", { type: "button", class: "news primary", hidden: true, click: () => grid.renew() });
  const count = element("p", { class: "count faint" });
  const empty = element("div", { class: "empty" });
  const details = createDetails(close);
  const grid = new Grid({
    name: "Journal, newest first",
    columns: COLUMNS,
    key: (/** @type {import("./journal.js").Kept} */ entry) => entry.sequence,
    paint,
    open: (entry) => (location.hash = placeOf(`requests/${entry.sequence}`, journal.filter)),
    held(number) {
      news.hidden = number === 0;
      setText(news, `${number.toLocaleString("en")} new`);
    },
  });
  const list = element(
    "div",
    { class: "requests-list", pointerenter: () => grid.point(true), pointerleave: () => grid.point(false) },
    news,
    grid.root,
    empty,
  );
  const body = element("div", { class: "requests-body" }, list, details.root);
  let isBehind = false;

  panel.append(
    element(
      "div",
      { class: "region-head" },
      element("h2", {}, name),
      count,
      chips,
      offer,
      askingButton(
        "Clear",
        async () => {
          await ask("DELETE", "requests");
          journal.clear();
          await refresh();
          return "The journal is empty";
        },
        { class: "quiet changes" },
      ),
    ),
    element("div", { class: "filters" }, status.root, operation.root, search.root),
    body,
  );

  for (const input of Object.values(fields))
    input.addEventListener("input", () =>
      lookFor({ status: status.input.value, operation: operation.input.value, search: search.input.value }),
    );

  /** @param {Record<string, string>} filter */
  function lookFor(filter) {
    changePlace(placeOf(grid.opened === null ? "requests" : `requests/${grid.opened}`, filter));
  }

  /**
   * Narrow the list down to what the page's address says.
   * @param {Record<string, string>} filters
   */
  function narrow(filters) {
    const filter = { status: "", operation: "", search: "", ...filters };
    for (const [name, input] of Object.entries(fields)) {
      const wanted = filter[/** @type {keyof typeof fields} */ (name)];
      if (input.value !== wanted) input.value = wanted;
    }
    status.input.setAttribute("aria-invalid", String(!isStatusWord(filter.status)));
    const isSame = Object.entries(journal.filter).every(
      ([name, value]) => filter[/** @type {"search"} */ (name)] === value,
    );
    if (isSame) return;
    journal.lookFor(filter);
    showChips(chips, { ...journal.filter }, lookFor);
    const id = filter.search.trim();
    fill(offer, isId(id) ? ["About ", idLink(id)] : []);
    grid.renew(journal.entries());
    show();
  }

  /** The variables for a client of this sandbox. @type {Record<string, string> | null} */
  let client = null;

  function show() {
    const found = journal.entries();
    const all = counted(journal.size, "request");
    const shown = found.length === journal.size ? all : `${found.length.toLocaleString("en")} of ${all}`;
    setText(count, isBehind ? `${shown}, behind: catching up` : shown);
    showFailures(journal.failures.size);
    grid.show(found);
    grid.root.hidden = journal.size === 0;
    empty.hidden = found.length > 0;
    fill(empty, found.length > 0 ? [] : journal.size > 0 ? noMatch(status.input.value) : firstSteps(client));
  }

  let isScheduled = false;
  /** Show with the next frame what has come until then: a burst costs one painting. */
  function schedule() {
    if (isScheduled) return;
    isScheduled = true;
    const work = () => {
      isScheduled = false;
      show();
    };
    // A page that is not seen gets no frames, and its title tells of failures all the same.
    if (document.hidden) setTimeout(work, HIDDEN_PAUSE_MS);
    else requestAnimationFrame(work);
  }

  /** Read the newest at once, and the older ones after them. */
  async function refresh() {
    const known = journal.newest;
    const wasBehind = isBehind;
    const first = await ask("GET", "requests", { query: { limit: wasBehind ? MAX_LOOK : FIRST_LOOK } });
    if (first.last_sequence < known) journal.clear();
    else if (!first.data.length) journal.forgetUpTo(first.last_sequence);
    let entries = first.data;
    for (;;) {
      const isKnown = entries.every((/** @type {{sequence: number}} */ entry) =>
        journal.bySequence.has(entry.sequence),
      );
      for (const entry of entries) journal.add(entry);
      schedule();
      const oldest = entries.at(-1)?.sequence ?? 0;
      if (isKnown || oldest <= 1 || journal.size >= 10_000) break;
      entries = (await ask("GET", "requests", { query: { limit: MAX_LOOK, before: oldest } })).data;
    }
    if (journal.size === 0) client = (await shownSandbox()).env;
    await details.refresh();
    isBehind = false;
    show();
    document.dispatchEvent(new Event("journal"));
  }

  /** @param {number | null} sequence */
  function open(sequence) {
    body.classList.toggle("is-open", sequence !== null);
    grid.mark(sequence);
    void details.open(sequence);
    // A narrow screen shows one or the other.
    if (sequence !== null && grid.root.offsetParent === null) details.root.focus();
  }

  function close() {
    open(null);
    location.hash = placeOf("requests", journal.filter);
    grid.focus();
  }

  return {
    refresh,
    /** @param {import("./events.js").LiveEvent} event */
    hear({ kind, data }) {
      // A gap that nothing was missed in: the numbers start again with the emulator.
      if (kind === "reset" || (kind === "gap" && data.missed === null)) journal.clear();
      if (kind === "cleared") journal.forgetUpTo(data.last_sequence);
      if (kind === "behind") isBehind = true;
      if (kind === "request") {
        journal.add(data);
        if (data.sequence === grid.opened) void details.refresh();
      }
      if (kind === "request" || kind === "behind" || concerns.includes(kind)) schedule();
    },
    /** @param {string} which @param {Record<string, string>} filters */
    open(which, filters) {
      narrow(filters);
      open(Number(which) || null);
    },
  };
}

/**
 * Tell of refused and failed requests where the page is one tab of many.
 * @param {number} number
 */
function showFailures(number) {
  const title = number ? `(${number.toLocaleString("en")}) ${TITLE}` : TITLE;
  if (document.title !== title) document.title = title;
  const icon = /** @type {HTMLLinkElement} */ (byId("icon"));
  const file = number ? "icon-failures.svg" : "icon.svg";
  if (!icon.href.endsWith(`/${file}`)) icon.href = icon.href.replace(/[^/]+$/, file);
}

/**
 * @param {string} label
 * @param {string} type
 * @param {string} placeholder
 */
function field(label, type, placeholder) {
  const id = `requests-${label.toLowerCase()}`;
  const input = element("input", { id, type, placeholder, autocomplete: "off", spellcheck: "false" });
  return {
    input,
    root: element("div", { class: `field field-${label.toLowerCase()}` }, element("label", { for: id }, label), input),
  };
}

/**
 * @param {import("./journal.js").Kept} entry
 * @param {HTMLElement} row
 */
function paint(entry, row) {
  const { kind, sign, word } = ending(entry);
  const rule =
    entry.rule && element("span", { class: "tag tag-rule", title: "What a scenario's rule did" }, entry.rule);
  row.className = `grid-row is-${kind}`;
  fill(
    row,
    element(
      "span",
      { class: "cell-status", role: "gridcell" },
      badge(kind, sign, entry.status ?? "—", element("span", { class: "visually-hidden" }, ` ${word}`)),
    ),
    element(
      "span",
      { class: "cell-operation", role: "gridcell" },
      element("span", { class: entry.isOperation ? "operation" : "operation operation-path" }, entry.name),
      entry.code && element("span", { class: "code" }, entry.code),
      rule,
    ),
    element("span", { class: "cell-team", role: "gridcell", dir: "auto", title: entry.team || null }, entry.team),
    element(
      "span",
      { class: "cell-time", role: "gridcell" },
      element(
        "time",
        { datetime: entry.at },
        timeOfDay(entry.at),
        element("span", { class: "fraction" }, fraction(entry.at)),
      ),
    ),
    element("span", { class: "cell-took", role: "gridcell" }, duration(entry.duration_ms)),
  );
}

/** @param {string} status */
function noMatch(status) {
  const mistake = `Status: found ${status}; expected a status such as 402, a class such as 4xx, or none.`;
  return [
    element("p", { class: "empty-title" }, "Nothing matches"),
    element("p", {}, isStatusWord(status) ? "Change or clear the filters above." : mistake),
  ];
}

/** @param {Record<string, string> | null} client the variables for a client of this sandbox */
function firstSteps(client) {
  const { IMAGE_WORKFLOW_BASE_URL: base, IMAGE_WORKFLOW_API_KEY: key } = client ?? {};
  return [
    element("p", { class: "empty-title" }, "No requests yet"),
    element("p", {}, "Point your client at the base URL, or send the first request from a terminal:"),
    base && element("pre", {}, `curl -H 'Authorization: Bearer ${key}' ${base}/team`),
    element(
      "p",
      {},
      "Without a client: ",
      element("a", { href: referenceAddress("getTeam") }, "try an operation in the reference"),
      " or make a ",
      element("a", { href: "#gallery" }, "first photoshoot"),
      ".",
    ),
  ];
}
