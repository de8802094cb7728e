/** The region `Coverage`: how much of the contract the clients of the sandbox have covered, and what closes each gap. */

import { element, fill, follow, part, setText } from "./dom.js";
import { ask } from "./service.js";
import { counted } from "./words.js";

export const name = "Coverage";
/** @type {"main"} */
export const place = "main";
export const concerns = ["request", "reset"];

/**
 * @typedef {object} Point
 * @property {string} point
 * @property {number} met
 * @property {{scenario?: string, rule?: object, request?: string, call?: true}} closed_by
 *
 * @typedef {object} Shown
 * @property {number} percent
 * @property {number} percent_of_used
 * @property {(Point & {operation: string})[]} next_gaps
 * @property {Record<string, {points: Point[]}>} operations
 */

/** @param {HTMLElement} panel */
export function create(panel) {
  const count = element("p", { class: "count faint" });
  const bar = element("span", {});
  const operations = element("div", { class: "coverage" });
  const meter = element("div", { class: "meter", "aria-hidden": "true" }, bar);
  const next = element("div", { class: "next-gaps" });
  panel.append(element("div", { class: "region-head" }, element("h2", {}, name), count), meter, next, operations);

  async function refresh() {
    /** @type {Shown} */
    const shown = await ask("GET", "coverage");
    const used = `${shown.percent_of_used} % of what the operations that were used declare`;
    setText(count, `${shown.percent} % of what the contract declares is covered, ${used}`);
    fill(
      next,
      shown.next_gaps.length > 0 &&
        part("Close next", element("ol", { class: "plain" }, shown.next_gaps.map(gap)), "h3"),
    );
    meter.style.setProperty("--share", String(shown.percent / 100));
    follow(operations, Object.entries(shown.operations), ([operation]) => operation, make, update);
  }

  return { refresh };
}

/** @param {[string, {points: Point[]}]} named */
function make([operation]) {
  return element(
    "details",
    {},
    element(
      "summary",
      {},
      element("code", {}, operation),
      element("span", { class: "dots", "aria-hidden": "true" }),
      element("span", { class: "share" }),
    ),
    element("ul", { class: "points" }),
  );
}

/**
 * @param {HTMLDetailsElement} made
 * @param {[string, {points: Point[]}]} named
 */
function update(made, [, { points }]) {
  const met = points.filter((point) => point.met > 0).length;
  const [summary, list] = made.children;
  const [, dots, share] = summary.children;
  fill(dots, points.map(dot));
  setText(share, `${met} of ${points.length}`);
  fill(list, points.map(line));
}

/** @param {Point & {operation: string}} next */
function gap({ operation, point, closed_by: closing }) {
  return element(
    "li",
    {},
    element("code", {}, operation),
    ` ${point}: `,
    element("span", { class: "soft" }, ...way(closing)),
  );
}

/** @param {Point} point */
function dot(point) {
  return element("i", { class: point.met ? "met" : "gap", title: point.point });
}

/** @param {Point} point */
function line({ point, met, closed_by: closing }) {
  return element(
    "li",
    { class: met ? "point met" : "point gap" },
    element("span", { "aria-hidden": "true" }, met ? "✓" : "○"),
    element("span", {}, point, !met && element("span", { class: "visually-hidden" }, " not covered yet, ")),
    met
      ? element("span", { class: "faint" }, `covered ${counted(met, "time")}`)
      : element("span", { class: "soft" }, ...way(closing)),
  );
}

/**
 * What closes a gap.
 * @param {Point["closed_by"]} closing
 */
function way({ scenario, rule, request }) {
  if (scenario) return ["use the scenario ", element("code", {}, scenario)];
  if (rule) return ["write the rule ", element("code", {}, JSON.stringify(rule))];
  return [request ?? "make the call"];
}
