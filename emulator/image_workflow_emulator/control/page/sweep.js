/** A report of sweep as a matrix: calls in rows, faults in columns, and all about a cell when it is pressed. */

import { element, fill, tableHead } from "./dom.js";
import { json } from "./json-view.js";

const SIGNS = { survived: "✓", failed: "✕", damaged: "‼", hung: "◷", "not run": "–" };
const KINDS = { survived: "good", failed: "refused", damaged: "failed", hung: "failed", "not run": "waiting" };

/** @param {any} report */
export function sweepMatrix({ cells, not_run: left = [] }) {
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
