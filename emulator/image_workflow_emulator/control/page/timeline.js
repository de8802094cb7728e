/**
 * The timeline of a piece of work, as a sequence of client and service: what was asked, what happened, what is due.
 */

import { ending, journal } from "./journal.js";
import { ask } from "./service.js";
import { clock } from "./store.js";
import { isRunning } from "./time.js";
import { actButton, html, useEffect, useRef } from "./ui.js";
import { counted } from "./words.js";

const MAX_SHOWN_REQUESTS = 60;

export function Timeline({ work }) {
  const list = useRef(null);
  const hadFocus = list.current?.contains(document.activeElement);
  // A button that did its work is gone: the keyboard goes on to the next one.
  useEffect(() => {
    if (!hadFocus || list.current.contains(document.activeElement)) return;
    (list.current.querySelector("button") ?? list.current.parentElement.querySelector("summary")).focus();
  });
  const past = [...asked(work), ...done(work)].sort((one, other) => Date.parse(one.at) - Date.parse(other.at));
  const step = ({ at, who, key, what }) => html`
    <li class=${`step step-${who}`} key=${`${at} ${key}`}>
      <time datetime=${at} title=${at}>${at.slice(11, 23)}</time><span class="step-what">${what}</span>
    </li>
  `;
  return html`<ol class="sequence" ref=${list}>${[...past, ...due(work)].map(step)}</ol>`;
}

/** What the service did. */
function done(work) {
  const { credits, rule, outputs = [], created_at: created, started_at: started, finished_at: finished } = work;
  const steps = [
    [created, `admitted, ${counted(credits.reserved, "Credit")} reserved`],
    [created, rule && `the rule ${rule.name ?? ""} of the scenario decides its end`],
    [started, "started"],
    ...outputs
      .filter(({ status }) => status === "completed" || status === "failed")
      .map(({ slot, status, finishes_at: at, error }) => {
        const end = error ? `failed: ${error.code}` : status;
        return /** @type {[string, string]} */ ([at ?? finished ?? created, `output ${slot} ${end}`]);
      }),
    [finished, `${work.status}, ${counted(credits.charged ?? 0, "Credit")} charged`],
  ];
  return steps.flatMap(([at, what]) => (at && what ? [{ at, who: "service", key: what, what }] : []));
}

/** What clients asked about it, and what they were answered. */
function asked(work) {
  const requests = journal.naming(work.id).slice(-MAX_SHOWN_REQUESTS);
  return requests.map((entry) => {
    const { sign, word } = ending(entry);
    const asks = entry.sequence === work.request ? "order" : entry.method === "GET" ? "poll" : entry.name;
    const more = [entry.code && ` ${entry.code}`, entry.retryAfter && `, Retry-After ${entry.retryAfter}`];
    const what = html`
      <a href=${`#requests/${entry.sequence}`}>#${entry.sequence} ${asks}</a>${` ${sign} ${entry.status ?? word}`}
      ${more}${entry.rule && `, rule ${entry.rule}`}
    `;
    return { at: entry.at, who: "client", key: String(entry.sequence), what };
  });
}

/** What will happen; a clock that stands still can go there. */
function due(work) {
  const events = (clock.last?.events ?? []).filter((event) => event.id === work.id);
  return events.map(({ at, what }) => {
    const go = async () => {
      clock.keep(await ask("POST", "clock/advance", { json: { to: at } }));
      return `The clock is at ${at}`;
    };
    const button = !isRunning() && actButton("Go to", go, { class: "button-small changes", title: at });
    return { at, who: "due", key: what, what: [`due: ${what} `, button] };
  });
}
