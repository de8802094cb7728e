/**
 * The region `Coverage`: how much of the contract the clients of the sandbox have covered, and what closes each gap.
 */

import { useScenario } from "./running.js";
import { ask, referenceAddress } from "./service.js";
import { operations } from "./store.js";
import { actButton, head, html, part, render, useState } from "./ui.js";
import { counted } from "./words.js";
import { openRule } from "./workbench.js";
import { asItem } from "./yaml.js";

export const name = "Coverage";
export const place = "main";
export const concerns = ["request", "reset"];

export function create(panel) {
  async function refresh() {
    const [coverage, byId] = await Promise.all([ask("GET", "coverage"), operations()]);
    const { percent, percent_of_used: used, next_gaps: gaps, operations: covered } = coverage;
    const gap = ({ operation, point, closed_by: closing }) => html`
      <li key=${`${operation} ${point}`}>
        <code>${operation}</code> ${point}: <span class="soft">${way(closing)}</span>
        ${" "}${closer(byId.get(operation), closing)}
      </li>
    `;
    const ofUsed = `${used} % of what the operations that were used declare`;
    const view = [
      head(name, html`<p class="count faint">${percent} % of what the contract declares is covered, ${ofUsed}</p>`),
      html`<div class="meter" aria-hidden="true" style=${{ "--share": percent / 100 }}><span></span></div>`,
      gaps.length > 0 && part("Close next", html`<ol class="plain next-gaps">${gaps.map(gap)}</ol>`),
      html`
        <div class="coverage">
          ${Object.entries(covered).map(
            ([id, { points }]) => html`<${Operation} key=${id} id=${id} operation=${byId.get(id)} points=${points} />`,
          )}
        </div>
      `,
    ];
    render(view, panel);
  }
  return { refresh };
}

function Operation({ id, operation, points }) {
  const [isOpen, open] = useState(false);
  const covered = points.filter((point) => point.covered > 0).length;
  const dots = points.map((one) => html`<i class=${one.covered ? "covered" : "gap"} title=${one.point}></i>`);
  return html`
    <details onToggle=${({ currentTarget }) => open(currentTarget.open)}>
      <summary>
        <code>${id}</code><span class="dots" aria-hidden="true">${dots}</span>
        <span class="share">${`${covered} of ${points.length}`}</span>
      </summary>
      ${isOpen && html`<ul class="points">${points.map((point) => line(operation, point))}</ul>`}
    </details>
  `;
}

function line(operation, { point, covered, closed_by: closing }) {
  const hint = html`<span class="visually-hidden"> not covered yet, </span>`;
  return html`
    <li class=${covered ? "point covered" : "point gap"} key=${point}>
      <span aria-hidden="true">${covered ? "✓" : "○"}</span>
      <span>${point}${!covered && hint}</span>
      ${
        covered
          ? html`<span class="faint">covered ${counted(covered, "time")}</span>`
          : html`<span class="soft">${way(closing)} ${closer(operation, closing)}</span>`
      }
    </li>
  `;
}

/** What closes a gap, in words. */
function way({ scenario, rule, request }) {
  if (scenario) return ["use the scenario ", html`<code>${scenario}</code>`];
  if (rule) return ["write the rule ", html`<code>${JSON.stringify(rule)}</code>`];
  return request ?? "make the call";
}

/**
 * The control that does it.
 * @param {any} operation of the contract; undefined for a byte surface
 */
function closer(operation, { scenario, rule }) {
  const kind = { class: "button-small changes" };
  if (scenario) return actButton(`Use ${scenario}`, () => useScenario(scenario), kind);
  if (rule) return actButton("Open in the editor", () => openRule(asItem(rule)), kind);
  return operation && html`<a class="button button-small changes" href=${referenceAddress(operation)}>Try it</a>`;
}
