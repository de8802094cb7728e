/** The region `Coverage`: what of the contract the clients of the sandbox have met, and what closes each gap. */

import { element, fill, setText } from "./dom.js";
import { ask } from "./service.js";

export const name = "Coverage";
/** @type {"main"} */
export const place = "main";
export const concerns = ["request", "reset"];

/**
 * @typedef {object} Point
 * @property {string} point
 * @property {number} met
 * @property {{scenario?: string, rule?: object, call?: true}} closed_by
 */

/** @param {HTMLElement} panel */
export function create(panel) {
  const count = element("p", { class: "count faint" });
  const operations = element("div", { class: "coverage" });
  /** @type {Set<string>} */
  const open = new Set();
  panel.append(element("div", { class: "region-head" }, element("h2", {}, name), count), operations);

  async function refresh() {
    /** @type {{percent: number, operations: Record<string, {points: Point[]}>}} */
    const shown = await ask("GET", "coverage");
    setText(count, `${shown.percent} % of all points`);
    fill(
      operations,
      Object.entries(shown.operations).map(([operation, { points }]) => details(operation, points)),
    );
  }

  /**
   * @param {string} operation
   * @param {Point[]} points
   */
  function details(operation, points) {
    const met = points.filter((point) => point.met > 0).length;
    return element(
      "details",
      {
        open: open.has(operation),
        toggle: (/** @type {Event} */ event) =>
          /** @type {HTMLDetailsElement} */ (event.target).open ? open.add(operation) : open.delete(operation),
      },
      element(
        "summary",
        {},
        element("code", {}, operation),
        element("span", { class: "dots", "aria-hidden": true }, points.map(dot)),
        element("span", { class: "share" }, `${met} of ${points.length}`),
      ),
      element("ul", {}, points.map(line)),
    );
  }

  return { refresh };
}

/** @param {Point} point */
function dot(point) {
  return element("i", { class: point.met ? "met" : "gap", title: point.point });
}

/** @param {Point} point */
function line(point) {
  const closing = point.closed_by;
  const how = closing.scenario
    ? `scenario ${closing.scenario}`
    : closing.rule
      ? `rule ${JSON.stringify(closing.rule)}`
      : "the call itself";
  return element(
    "li",
    { class: point.met ? "met" : "gap" },
    element("span", {}, point.point),
    element("span", { class: "faint" }, point.met ? ` met ${point.met} ×` : ` — ${how}`),
  );
}
