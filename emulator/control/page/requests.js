/** The region `Requests`: every request as it comes and goes, filtered, and one of them explained beside the list. */

import { actButton } from "./acts.js";
import { element, fill, setText } from "./dom.js";
import { Grid } from "./grid.js";
import { ending, isStatusWord, Journal } from "./journal.js";
import { createDetails } from "./request-details.js";
import { ask, referenceAddress, shownSandbox } from "./service.js";
import { counted, duration, fraction, timeOfDay } from "./words.js";

export const name = "Requests";
/** @type {"main"} */
export const place = "main";
export const concerns = ["reset", "cleared"];

const FIRST_LOOK = 200;
const LONGEST_LOOK = 1000;
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
  const search = field("Search", "search", "Path, code, Team, Request-Id…");
  const count = element("p", { class: "count faint" });
  const empty = element("div", { class: "empty" });
  const details = createDetails(close);
  const grid = new Grid({
    name: "Journal, newest first",
    columns: COLUMNS,
    key: (/** @type {import("./journal.js").Kept} */ entry) => entry.sequence,
    paint,
    open: (entry) => (location.hash = `#requests/${entry.sequence}`),
  });
  const body = element(
    "div",
    { class: "requests-body" },
    element("div", { class: "requests-list" }, grid.root, empty),
    details.root,
  );

  panel.append(
    element(
      "div",
      { class: "region-head" },
      element("h2", {}, name),
      count,
      actButton(
        "Clear",
        async () => {
          await ask("DELETE", "requests");
          journal.clear();
          await refresh();
          return "The journal is empty";
        },
        { class: "quiet" },
      ),
    ),
    element("div", { class: "filters" }, status.root, operation.root, search.root),
    body,
  );

  for (const { input } of [status, operation, search])
    input.addEventListener("input", () => {
      journal.lookFor({ status: status.input.value, operation: operation.input.value, search: search.input.value });
      status.input.setAttribute("aria-invalid", String(!isStatusWord(status.input.value)));
      grid.view.scrollTop = 0;
      show();
    });

  /** The variables for a client of this sandbox. @type {Record<string, string> | null} */
  let client = null;

  function show() {
    const found = journal.entries();
    const all = counted(journal.size, "request");
    setText(count, found.length === journal.size ? all : `${found.length.toLocaleString("en")} of ${all}`);
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
    requestAnimationFrame(() => {
      isScheduled = false;
      show();
    });
  }

  /** Read the newest at once, and the older ones after them. */
  async function refresh() {
    const known = journal.newest;
    const first = await ask("GET", "requests", { query: { limit: FIRST_LOOK } });
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
      entries = (await ask("GET", "requests", { query: { limit: LONGEST_LOOK, before: oldest } })).data;
    }
    if (journal.size === 0) client = (await shownSandbox()).env;
    await details.refresh();
    show();
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
    location.hash = "#requests";
    grid.focus();
  }

  return {
    refresh,
    /** @param {import("./events.js").LiveEvent} event */
    hear({ kind, data }) {
      // A gap that nothing was missed in: the numbers start again with the emulator.
      if (kind === "reset" || (kind === "gap" && data.missed === null)) journal.clear();
      if (kind === "cleared") journal.forgetUpTo(data.last_sequence);
      if (kind === "request") {
        journal.add(data);
        if (data.sequence === grid.opened) void details.refresh();
      }
      if (kind === "request" || concerns.includes(kind)) schedule();
    },
    /** @param {string} which */
    open(which) {
      open(Number(which) || null);
    },
  };
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
      element(
        "span",
        { class: `badge badge-${kind}` },
        element("span", { class: "badge-sign", "aria-hidden": "true" }, sign),
        element("span", {}, entry.status ?? "—"),
        element("span", { class: "visually-hidden" }, ` ${word}`),
      ),
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
