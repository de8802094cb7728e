/** The ledger of a Team, as the emulator keeps it: every change of its Credits. Nothing of it is reckoned here. */

import { idLink } from "./ids.js";
import { ask } from "./service.js";
import { actButton, html, tableHead } from "./ui.js";
import { counted, timeOfDay } from "./words.js";

const PAGE = 100;
const HEIGHT = 40;
const WIDTH = 600;

const REASONS = {
  start: "the Team's Credits at its start",
  set: "set by hand",
  scenario: "set by a scenario",
  reserved: "reserved",
  charged: "charged",
  released: "released",
};

/**
 * The changes of a Team's Credits.
 * @param {string} team its id
 * @param {number} pages how many pages of them
 */
export function readLedger(team, pages = 1) {
  return ask("GET", `teams/${encodeURIComponent(team)}/ledger`, { query: { limit: pages * PAGE } });
}

/** @param {() => Promise<unknown>} more reads another page of the ledger */
export function creditsOverTime(team, { data, total, left }, more) {
  const changes = [...data].reverse();
  const older = total - data.length;
  return html`
    <p>${team.name} has ${counted(team.credits, "Credit")}, and ${team.reserved} are reserved.</p>
    ${data.length > 0 && curve(data)}
    <table class="about-credits">
      <caption class="visually-hidden">Changes, the newest first</caption>
      ${tableHead(["Time", "What", "Change", "Available", "Reserved"])}<tbody>${changes.map(row)}</tbody>
    </table>
    ${older > 0 && html`<p>${actButton("Older", more)} <span class="faint">${counted(older, "older change")}</span></p>`}
    ${left > 0 && html`<p class="faint">${counted(left, "older change")} no longer kept.</p>`}
  `;
}

function row({ sequence, at, change, available, reserved, reason, id }) {
  const sign = change > 0 ? "+" : change < 0 ? "−" : "";
  return html`
    <tr key=${sequence}>
      <td><time datetime=${at} title=${at}>${timeOfDay(at)}</time></td>
      <td>${REASONS[reason]} ${id && idLink(id)}</td>
      <td class="number">${sign}${Math.abs(change)}</td>
      <td class="number">${available}</td>
      <td class="number">${reserved}</td>
    </tr>
  `;
}

/** What was available after each change, oldest first. */
function curve(data) {
  const balances = data.map(({ available }) => available);
  const most = Math.max(1, ...balances);
  const step = WIDTH / balances.length;
  const height = (balance) => (HEIGHT - 2 - (balance / most) * (HEIGHT - 4)).toFixed(1);
  const path = balances.map((balance, at) => `${at ? "V" : "M0 "}${height(balance)}H${((at + 1) * step).toFixed(1)}`);
  const name = `Available Credits, from ${balances[0]} to ${balances[balances.length - 1]}`;
  return html`
    <svg class="curve" viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label=${name}>
      <path d=${path.join("")} />
    </svg>
  `;
}
