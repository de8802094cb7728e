/** The region `Requests`: every request as it comes and goes, filtered, and one of them explained beside the list. */

import { saveArchive } from "./archive.js";
import { Grid } from "./grid.js";
import { idLink, isId } from "./ids.js";
import { ending, journal, mistakeIn, termsOf } from "./journal.js";
import { changePlace, chips, placeOf } from "./places.js";
import { createDetails } from "./request-details.js";
import { ask, referenceAddress } from "./service.js";
import { sandbox } from "./store.js";
import { actButton, askingButton, badge, byId, empty, head, html, render } from "./ui.js";
import { counted, duration, fraction, timeOfDay } from "./words.js";

export const name = "Requests";
export const place = "main";
export const concerns = ["reset", "cleared"];
export const isAlwaysFresh = true;

const FIRST_LOOK = 200;
const MAX_LOOK = 1000;
const HIDDEN_PAUSE_MS = 500;
const TITLE = document.title;
const HINT = "Change or clear the search above.";
const COLUMNS = [
  { name: "Status", class: "cell-status" },
  { name: "Operation", class: "cell-operation" },
  { name: "Team", class: "cell-team" },
  { name: "Time", class: "cell-time" },
  { name: "Took", class: "cell-took" },
];

export function create(panel) {
  let search = "";
  let isBehind = false;
  let hasRead = false;
  /** Whether it is known what the journal holds. */
  let isAnswered = false;
  let held = 0;
  const details = createDetails(close, () => draw());
  let grid;
  const attach = (root) => {
    if (!root || grid) return;
    grid = new Grid(root, {
      columns: COLUMNS,
      key: (entry) => entry.sequence,
      paint,
      open: (entry) => (location.hash = placeOf(`requests/${entry.sequence}`, { search })),
      // The page's address is read once it has changed.
      enter: () => setTimeout(details.focus),
      held(number) {
        if (number === held) return;
        held = number;
        schedule();
      },
    });
  };
  draw();

  function lookFor(text) {
    changePlace(placeOf(grid.opened === null ? "requests" : `requests/${grid.opened}`, { search: text }));
  }

  async function clear() {
    await ask("DELETE", "requests");
    journal.clear();
    await refresh();
    return "The journal is empty";
  }

  function show() {
    showFailures(journal.failures.size);
    grid.show(journal.entries());
    draw();
  }

  function draw() {
    const found = journal.entries();
    const all = counted(journal.size, "request");
    const shown = found.length === journal.size ? all : `${found.length.toLocaleString("en")} of ${all}`;
    const mistake = mistakeIn(journal.terms);
    const id = search.trim();
    const without = (text) => () => lookFor(search.replace(text, "").replace(/\s+/g, " ").trim());
    const filters = journal.terms.filter((term) => term.field || term.isExcluded);
    const used = filters.map((term) => ({ text: spoken(term), remove: without(term.text) }));
    const view = html`
      ${head(
        name,
        html`<p class="count faint">${isBehind ? `${shown}, behind: catching up` : shown}</p>`,
        chips(used),
        html`<p class="offer" aria-live="polite">${isId(id) && ["About ", idLink(id)]}</p>`,
        html`
          <div class="buttons push">
            ${found.length > 0 && actButton("Save as HAR", () => saveArchive(found), { class: "quiet" })}
            ${askingButton("Clear", clear, { class: "quiet changes" })}
          </div>
        `,
      )}
      <div class="field filters">
        <label for="requests-search">Search</label>
        <input id="requests-search" type="search" autocomplete="off" spellcheck=${false} value=${search}
          placeholder="status:4xx op:getTeam team:Demo rule:NAME, or words: path, code, id…"
          aria-invalid=${mistake !== ""} aria-describedby="search-mistake" onInput=${({ currentTarget }) => lookFor(currentTarget.value)} />
        <p class="mistake" id="search-mistake" aria-live="polite">${mistake}</p>
      </div>
      <div class=${`requests-body ${details.opened() === null ? "" : "is-open"}`}>
        <div class="requests-list" onPointerEnter=${() => grid.point(true)} onPointerLeave=${() => grid.point(false)}>
          <button type="button" class="news primary" hidden=${!held} onClick=${() => grid.renew()}>
            ${`${held.toLocaleString("en")} new`}
          </button>
          <div class="grid" role="grid" aria-label="Journal, newest first" aria-readonly="true" ref=${attach}
            hidden=${found.length === 0}></div>
          ${found.length === 0 && whyEmpty()}
        </div>
        ${details.view()}
      </div>
    `;
    render(view, panel);
  }

  /** Why the list has no row. */
  function whyEmpty() {
    if (journal.size > 0) return empty("Nothing matches", HINT);
    return isAnswered && firstSteps(sandbox.last?.env);
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
    const wasRead = hasRead;
    hasRead = true;
    const first = await ask("GET", "requests", { query: { limit: isBehind ? MAX_LOOK : FIRST_LOOK } });
    if (first.last_sequence < known || journal.isOfAnother(first.data)) journal.clear();
    else if (!first.data.length) journal.forgetUpTo(first.last_sequence);
    let entries = first.data;
    for (;;) {
      const isKnown = entries.every((entry) => journal.bySequence.has(entry.sequence));
      for (const entry of entries) journal.add(entry);
      schedule();
      const oldest = entries.at(-1)?.sequence ?? 0;
      if (isKnown || oldest <= 1 || journal.size >= 10_000) break;
      entries = (await ask("GET", "requests", { query: { limit: MAX_LOOK, before: oldest } })).data;
    }
    if (journal.size === 0) await sandbox.get();
    isAnswered = true;
    // What the address names was read when it was opened.
    if (wasRead) await details.refresh();
    isBehind = false;
    show();
    document.dispatchEvent(new CustomEvent("journal", { detail: { isFirst: !wasRead } }));
  }

  function close() {
    const place = placeOf("requests", { search });
    open("", { search });
    if (panel.offsetParent) {
      location.hash = place;
      grid.focus();
    } else {
      document.dispatchEvent(new CustomEvent("left", { detail: { slug: "requests", place } }));
    }
  }

  function open(which, { search: wanted = "" }) {
    const sequence = Number(which) || null;
    const isOther = wanted !== search;
    search = wanted;
    journal.lookFor(termsOf(search));
    if (isOther) grid.renew(journal.entries());
    grid.mark(sequence);
    void details.open(sequence);
    show();
    // A narrow screen shows one or the other.
    if (sequence !== null && !grid.root.parentElement?.offsetParent) details.focus();
  }

  return {
    refresh,
    open,
    hear({ kind, data }) {
      // A gap that nothing was missed in: the numbers start again with the emulator.
      if (kind === "reset" || kind === "session" || (kind === "gap" && data.missed === null)) journal.clear();
      if (kind === "reset") details.leave();
      if (kind === "cleared") journal.forgetUpTo(data.last_sequence);
      if (kind === "behind") isBehind = true;
      if (kind === "request") {
        journal.add(data);
        if (data.sequence === grid.opened) void details.refresh();
      }
      if (kind === "request" || kind === "behind" || concerns.includes(kind)) schedule();
    },
  };
}

/** A term of a search in words. */
function spoken({ field, value, isExcluded }) {
  return [isExcluded && "not", field, value].filter(Boolean).join(" ");
}

/** Tell of refused and failed requests where the page is one tab of many. */
function showFailures(number) {
  const title = number ? `(${number.toLocaleString("en")}) ${TITLE}` : TITLE;
  if (document.title !== title) document.title = title;
  const icon = /** @type {HTMLLinkElement} */ (byId("icon"));
  const file = number ? "icon-failures.svg" : "icon.svg";
  if (!icon.href.endsWith(`/${file}`)) icon.href = icon.href.replace(/[^/]+$/, file);
}

function paint(entry, row) {
  const { kind, sign, word } = ending(entry);
  row.className = `grid-row is-${kind}`;
  const fate = entry.isLost ? "lost" : entry.replayed && "replayed";
  const status = badge(kind, sign, entry.status ?? "—", html`<span class="visually-hidden"> ${word}</span>`);
  const cells = html`
    <span class="cell-status" role="gridcell">${status}</span>
    <span class="cell-operation" role="gridcell">
      <span class=${entry.isOperation ? "operation" : "operation operation-path"}>${entry.name}</span>
      ${entry.code && html`<span class="code">${entry.code}</span>`}
      ${fate && html`<span class="tag tag-fate">${fate}</span>`}
      ${entry.rule && html`<span class="tag tag-rule" title="What a scenario's rule did">${entry.rule}</span>`}
    </span>
    <span class="cell-team" role="gridcell" dir="auto" title=${entry.team || null}>${entry.team}</span>
    <span class="cell-time" role="gridcell">
      <time datetime=${entry.at}>${timeOfDay(entry.at)}<span class="fraction">${fraction(entry.at)}</span></time>
    </span>
    <span class="cell-took" role="gridcell">${duration(entry.duration_ms)}</span>
  `;
  render(cells, row);
}

/** @param {Record<string, string> | null} client the variables for a client of this sandbox */
function firstSteps(client) {
  const { IMAGE_WORKFLOW_BASE_URL: base, IMAGE_WORKFLOW_API_KEY: key } = client ?? {};
  return html`
    <div class="empty">
      <p class="empty-title">No requests yet</p>
      <p>Point your client at the base URL, or send the first request from a terminal:</p>
      ${base && html`<pre>curl -H 'Authorization: Bearer ${key}' ${base}/team</pre>`}
      <p>
        Without a client: <a href=${referenceAddress()}>try an operation in the reference</a>
        ${" "}or make a <a href="#gallery">first photoshoot</a>.
      </p>
    </div>
  `;
}
