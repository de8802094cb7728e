/** The timeline of a piece of work, as a sequence of client and service: what was asked, what happened, what is due. */

import { actButton } from "./acts.js";
import { element, follow } from "./dom.js";
import { ending } from "./journal.js";
import { journal } from "./requests.js";
import { ask } from "./service.js";
import { isRunning, keepClock, lastClock } from "./time.js";
import { counted } from "./words.js";

const MAX_SHOWN_REQUESTS = 60;

/**
 * @typedef {object} Step
 * @property {string} at
 * @property {"client" | "service" | "due"} who
 * @property {(Node | string | false | null)[]} what
 */

/**
 * Write it into a list; what is there already, and what the keyboard is on, stays.
 * @param {Element} list
 * @param {import("./work.js").Work} work
 */
export function writeTimeline(list, work) {
  const steps = [...asked(work), ...told(work)].sort((one, other) => Date.parse(one.at) - Date.parse(other.at));
  const hadFocus = list.contains(document.activeElement);
  follow(
    list,
    [...steps, ...due(work)],
    ({ at, who, what }) => [at, who, ...what.map((part) => (part instanceof Node ? part.textContent : part))].join(" "),
    ({ at, who, what }) =>
      element(
        "li",
        { class: `step step-${who}` },
        element("time", { datetime: at, title: at }, at.slice(11, 23)),
        element("span", { class: "step-what" }, what),
      ),
  );
  if (!hadFocus || list.contains(document.activeElement)) return;
  /** @type {HTMLElement | null} */
  const next = list.querySelector("button") ?? list.parentElement?.querySelector("summary") ?? null;
  next?.focus();
}

/**
 * What the service did.
 * @param {import("./work.js").Work} work
 * @returns {Step[]}
 */
function told(work) {
  const { credits, rule, outputs = [], started_at: started, finished_at: finished } = work;
  /** @type {Step[]} */
  const steps = [
    { at: work.created_at, who: "service", what: [`admitted, ${counted(credits.reserved, "Credit")} reserved`] },
  ];
  if (rule)
    steps.push({
      at: work.created_at,
      who: "service",
      what: [`the rule ${rule.name ?? ""} of the scenario decides its end`],
    });
  if (started) steps.push({ at: started, who: "service", what: ["started"] });
  for (const { slot, status, finishes_at: at, error } of outputs) {
    const isOver = status === "completed" || status === "failed";
    if (isOver)
      steps.push({
        at: at ?? finished ?? work.created_at,
        who: "service",
        what: [`output ${slot} ${error ? `failed: ${error.code}` : status}`],
      });
  }
  if (finished)
    steps.push({
      at: finished,
      who: "service",
      what: [`${work.status}, ${counted(credits.charged ?? 0, "Credit")} charged`],
    });
  return steps;
}

/**
 * What clients asked about it, and what they were answered.
 * @param {import("./work.js").Work} work
 * @returns {Step[]}
 */
function asked(work) {
  return journal
    .naming(work.id)
    .slice(-MAX_SHOWN_REQUESTS)
    .map((entry) => {
      const { sign, word } = ending(entry);
      const asks = entry.sequence === work.request ? "order" : entry.method === "GET" ? "poll" : entry.name;
      return {
        at: entry.at,
        who: "client",
        what: [
          element("a", { href: `#requests/${entry.sequence}` }, `#${entry.sequence} ${asks}`),
          ` ${sign} ${entry.status ?? word}`,
          entry.code && ` ${entry.code}`,
          entry.retryAfter && `, Retry-After ${entry.retryAfter}`,
          entry.rule && `, rule ${entry.rule}`,
        ],
      };
    });
}

/**
 * What will happen; a clock that stands still can go there.
 * @param {import("./work.js").Work} work
 * @returns {Step[]}
 */
function due(work) {
  const events = lastClock()?.events ?? [];
  return events
    .filter((event) => event.id === work.id)
    .map(({ at, what }) => ({
      at,
      who: "due",
      what: [`due: ${what} `, !isRunning() && goTo(at)],
    }));
}

/** @param {string} at */
function goTo(at) {
  return actButton(
    "Go to",
    async () => {
      keepClock({ .../** @type {any} */ (lastClock()), ...(await ask("POST", "clock/advance", { json: { to: at } })) });
      return `The clock is at ${at}`;
    },
    { class: "button-small changes", title: at },
  );
}
