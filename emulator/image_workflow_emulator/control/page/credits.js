/**
 * The Credits of a Team over time: what work reserved, charged and released, and what was set by hand or by a scenario.
 */

import { idLink } from "./ids.js";
import { html, tableHead } from "./ui.js";
import { counted, sentence, timeOfDay } from "./words.js";

const MAX_SHOWN = 100;
const HEIGHT = 40;
const WIDTH = 600;

/** The changes of what a Team has, newest first, reckoned back from what there is now through all its work. */
function changesOf(team, works) {
  const all = [
    ...(team.credit_changes ?? []).map(({ at, change }) => ({ at, change, what: "set by hand or by a scenario" })),
    ...works.flatMap(({ id, credits: { reserved, charged }, created_at: created, finished_at: finished, ...work }) => {
      const name = html`${sentence(work.workflow ?? work.type ?? "work")} ${idLink(id)}`;
      const begins = { at: created, change: -reserved, what: ["reserved: ", name] };
      const left = reserved - (charged ?? 0);
      return finished && left ? [begins, { at: finished, change: left, what: ["released: ", name] }] : [begins];
    }),
  ].filter(({ change }) => change !== 0);
  all.sort((one, other) => Date.parse(other.at) - Date.parse(one.at));
  let balance = team.credits;
  return all.map((one) => {
    const changed = { ...one, balance };
    balance -= one.change;
    return changed;
  });
}

export function creditsOverTime(team, works) {
  const changes = changesOf(team, works);
  const now = `${team.name} has ${counted(team.credits, "Credit")}, and ${team.reserved} are reserved.`;
  const row = ({ at, change, what, balance }) => html`
    <tr>
      <td><time datetime=${at} title=${at}>${timeOfDay(at)}</time></td>
      <td>${what}</td>
      <td class="number">${change > 0 ? `+${change}` : `−${-change}`}</td>
      <td class="number">${balance}</td>
    </tr>
  `;
  return html`
    <p>${now}</p>
    ${
      changes.length > 0 && [
        curve(changes),
        html`
        <table class="about-credits">
          <caption class="visually-hidden">Changes, the newest first</caption>
          ${tableHead(["Time", "What", "Change", "Available"])}<tbody>${changes.slice(0, MAX_SHOWN).map(row)}</tbody>
        </table>
      `,
      ]
    }
  `;
}

/** @param {any[]} changes newest first */
function curve(changes) {
  const oldest = changes[changes.length - 1];
  const balances = [...changes.map(({ balance }) => balance), oldest.balance - oldest.change].reverse();
  const [most, step] = [Math.max(1, ...balances), WIDTH / balances.length];
  const height = (balance) => (HEIGHT - 2 - (balance / most) * (HEIGHT - 4)).toFixed(1);
  const path = balances.map((balance, at) => `${at ? "V" : `M0 `}${height(balance)}H${((at + 1) * step).toFixed(1)}`);
  const name = `Available Credits, from ${balances[0]} to ${balances[balances.length - 1]}`;
  return html`
    <svg class="curve" viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label=${name}>
      <path d=${path.join("")} />
    </svg>
  `;
}
