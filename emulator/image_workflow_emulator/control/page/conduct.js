/** The region `Conduct`: what the clients of the sandbox did wrong, with the requests and what to do instead. */

import { element, fill, setText } from "./dom.js";
import { linked } from "./ids.js";
import { ask } from "./service.js";
import { counted } from "./words.js";

export const name = "Conduct";
/** @type {"main"} */
export const place = "main";
export const concerns = ["request", "clock", "reset"];

/**
 * @typedef {object} Finding
 * @property {string} rule
 * @property {"error" | "warning" | "note"} severity
 * @property {string} message
 * @property {string} source
 * @property {number[]} requests
 * @property {{credential: string | null, user_agent: string | null}} client
 * @property {string} remedy
 */

const MAX_SHOWN_REQUESTS = 12;
const MAX_SHOWN_MESSAGES = 6;
const SEVERITIES = ["error", "warning", "note"];

/** @param {HTMLElement} panel */
export function create(panel) {
  const count = element("p", { class: "count faint" });
  const findings = element("div", { class: "findings" });
  const checked = element("p", { class: "faint" });
  panel.append(element("div", { class: "region-head" }, element("h2", {}, name), count), findings, checked);

  async function refresh() {
    /** @type {[{findings: Finding[], checked: Record<string, number>}, {data: import("./teams.js").Team[]}]} */
    const [shown, teams] = await Promise.all([ask("GET", "conduct"), ask("GET", "teams")]);
    const senders = sendersOf(teams.data);
    const sorted = grouped(bySeverity(shown.findings));
    setText(count, sorted.length ? counted(sorted.length, "finding") : "");
    fill(findings, sorted.length ? sorted.map((one) => article(one, senders)) : empty());
    const total = Object.values(shown.checked).reduce((sum, number) => sum + number, 0);
    setText(checked, total ? `Rules of conduct were checked ${counted(total, "time")}.` : "");
  }

  return { refresh };
}

/** @param {Finding[]} findings the worst first, and within that in the order in which they were found */
function bySeverity(findings) {
  return SEVERITIES.flatMap((severity) => findings.filter((finding) => finding.severity === severity));
}

/**
 * One finding for each rule and client, whatever the operations that it was found in.
 * @param {Finding[]} all
 * @returns {(Finding & {messages: string[]})[]}
 */
function grouped(all) {
  const groups = new Map();
  for (const finding of all) {
    const key = JSON.stringify([finding.rule, finding.severity, finding.client, finding.remedy]);
    const group = groups.get(key) ?? { ...finding, messages: [], requests: [] };
    if (!group.messages.includes(finding.message)) group.messages.push(finding.message);
    group.requests = [...new Set([...group.requests, ...finding.requests])];
    groups.set(key, group);
  }
  return [...groups.values()];
}

function empty() {
  return element(
    "div",
    { class: "empty" },
    element("p", { class: "empty-title" }, "Nothing found"),
    element("p", {}, "Mistakes of your client appear here as it makes them, such as a retry that comes too early."),
  );
}

/**
 * @param {import("./teams.js").Team[]} teams
 * @returns {Map<string | null, string>} by the id of a credential: whose it is
 */
function sendersOf(teams) {
  return new Map(teams.flatMap((team) => team.credentials.map(({ id, name }) => [id, `${team.name}, ${name}`])));
}

/**
 * @param {Finding & {messages: string[]}} finding
 * @param {Map<string | null, string>} senders
 */
function article(finding, senders) {
  const { credential, user_agent: program } = finding.client;
  const client = [senders.get(credential), program].filter(Boolean).join(" · ");
  return element(
    "article",
    { class: `finding finding-${finding.severity}`, "aria-label": finding.rule },
    element("h3", {}, element("span", { class: "tag severity" }, finding.severity), finding.rule),
    finding.messages.slice(0, MAX_SHOWN_MESSAGES).map((message) => element("p", {}, linked(message))),
    finding.messages.length > MAX_SHOWN_MESSAGES &&
      element("p", { class: "soft" }, `and ${counted(finding.messages.length - MAX_SHOWN_MESSAGES, "more place")}`),
    client && element("p", { class: "soft" }, "Client: ", element("bdi", {}, client)),
    element(
      "div",
      { class: "callout" },
      element("p", { class: "callout-title" }, "Remedy"),
      element("p", {}, finding.remedy),
    ),
    element("p", { class: "soft" }, finding.source),
    element(
      "p",
      { class: "finding-requests" },
      element("span", { class: "faint" }, counted(finding.requests.length, "request")),
      finding.requests
        .slice(0, MAX_SHOWN_REQUESTS)
        .map((number) => element("a", { href: `#requests/${number}` }, `#${number}`)),
      finding.requests.length > MAX_SHOWN_REQUESTS && "…",
    ),
  );
}
