/** The region `File`: a report of sweep or a journal from a file, read only. A state file becomes a sandbox of its own. */

import { act, actButton } from "./acts.js";
import { badge, byId, element, fill, setText, tableHead } from "./dom.js";
import { ending } from "./journal.js";
import { json } from "./json-view.js";
import { ask, pageAddress, Refusal, send } from "./service.js";
import { counted } from "./words.js";

export const name = "File";
/** @type {"main"} */
export const place = "main";
export const isOnDemand = true;
/** @type {string[]} */
export const concerns = [];

const MOST = 2000;
const SIGNS = { survived: "✓", failed: "✕", damaged: "‼", hung: "◷", "not run": "–" };
const KINDS = { survived: "good", failed: "refused", damaged: "failed", hung: "failed", "not run": "waiting" };

/** @param {HTMLElement} panel */
export function create(panel) {
  const title = element("h2", {}, name);
  const content = element("div", { class: "about" }, element("p", { class: "soft" }, "No file is open."));
  panel.append(element("div", { class: "region-head" }, title), content);
  const file = element("input", { type: "file", accept: ".json,.zip", hidden: true, "aria-label": "Open file" });
  const opener = actButton("Open file", () => file.click(), { class: "quiet" });
  file.addEventListener("change", () => {
    const [chosen] = file.files ?? [];
    if (chosen) void act(opener, () => open(chosen)).then(() => (file.value = ""));
  });
  byId("open-file").append(opener, file);

  /** @param {File} chosen */
  async function open(chosen) {
    if (chosen.name.endsWith(".zip")) return openState(chosen);
    const shown = describe(chosen.name, parsed(chosen.name, await chosen.text()));
    setText(title, chosen.name);
    fill(content, shown);
    location.hash = "#file";
    return `${chosen.name} is open`;
  }

  return { refresh: async () => {} };
}

/**
 * Load a state file into a new sandbox, and show that.
 * @param {File} chosen
 */
async function openState(chosen) {
  const { id } = await ask("POST", "/sandboxes", { json: {} });
  const path = `/sandboxes/${encodeURIComponent(id)}`;
  try {
    await send("PUT", `${path}/state`, { body: chosen, headers: { "Content-Type": "application/zip" } });
  } catch (error) {
    await ask("DELETE", path);
    throw error;
  }
  const url = pageAddress("work");
  url.searchParams.set("sandbox", id);
  location.href = url.href;
}

/**
 * @param {string} from
 * @param {string} text
 */
function parsed(from, text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Refusal(
      422,
      "invalid_file",
      `${from}: expected JSON or a state file; ${error instanceof Error ? error.message : error}`,
    );
  }
}

/**
 * @param {string} from
 * @param {any} content
 */
function describe(from, content) {
  if (Array.isArray(content?.cells)) return sweep(content);
  const requests = Array.isArray(content) ? content : (content?.data ?? content?.requests);
  if (Array.isArray(requests) && requests.every((one) => one?.method && one?.path)) return journal(requests);
  throw new Error(
    `${from}: expected a report of sweep (with "cells"), a journal (a list of requests), or a state file`,
  );
}

/**
 * A sweep as a matrix: calls in rows, faults in columns.
 * @param {any} report
 */
function sweep({ cells, not_run: left = [] }) {
  const all = [...cells, ...left.map((/** @type {string} */ cell) => ({ cell, outcome: "not run" }))].map(readCell);
  const faults = [...new Set(all.map((one) => one.fault))];
  const calls = [...new Set(all.map((one) => one.call))];
  const find = new Map(all.map((one) => [`${one.call}#${one.fault}`, one]));
  const detail = element("div", { "aria-live": "polite" });
  const counts = Object.keys(SIGNS).map((outcome) => [outcome, all.filter((one) => one.outcome === outcome).length]);
  return [
    element(
      "p",
      {},
      counts
        .filter(([, count]) => count)
        .map(([outcome, count]) => `${count} ${outcome}`)
        .join(", "),
    ),
    element(
      "div",
      { class: "matrix" },
      element(
        "table",
        {},
        tableHead(["Call", ...faults]),
        element(
          "tbody",
          {},
          calls.map((call) =>
            element(
              "tr",
              {},
              element("th", { scope: "row" }, call),
              faults.map((fault) => element("td", {}, cellButton(find.get(`${call}#${fault}`), detail))),
            ),
          ),
        ),
      ),
    ),
    detail,
  ];
}

/** @param {any} run */
function readCell(run) {
  const at = run.cell.indexOf(":");
  return { ...run, call: at < 0 ? run.cell : run.cell.slice(0, at), fault: at < 0 ? "" : run.cell.slice(at + 1) };
}

/**
 * @param {any} run
 * @param {Element} detail
 */
function cellButton(run, detail) {
  if (!run) return null;
  const outcome = /** @type {keyof typeof SIGNS} */ (run.outcome);
  const show = () => {
    const { call: _, fault: __, ...whole } = run;
    fill(detail, element("h3", {}, run.cell), json(whole, run.cell));
  };
  return element(
    "button",
    {
      type: "button",
      class: `badge badge-${KINDS[outcome] ?? "waiting"}`,
      "aria-label": `${run.cell}: ${outcome}`,
      click: show,
    },
    SIGNS[outcome] ?? outcome,
  );
}

/** @param {any[]} requests */
function journal(requests) {
  const shown = requests.slice(0, MOST);
  return [
    element(
      "p",
      { class: "soft" },
      `${counted(requests.length, "request")}${shown.length < requests.length ? `, of which ${MOST} are shown` : ""}`,
    ),
    element("div", {}, shown.map(request)),
  ];
}

/** @param {any} entry */
function request(entry) {
  const { kind, sign } = ending({ ...entry, isComplete: entry.duration_ms !== null });
  const details = element(
    "details",
    { class: "file-request" },
    element(
      "summary",
      {},
      badge(kind, sign, entry.status ?? "—"),
      ` #${entry.sequence ?? ""} ${entry.operation ?? `${entry.method} ${entry.path}`} `,
      entry.code && element("span", { class: "code" }, entry.code),
    ),
  );
  details.addEventListener("toggle", () => details.childElementCount < 2 && details.append(json(entry, "Request")));
  return details;
}
