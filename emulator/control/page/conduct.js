/** The region `Conduct`: what the clients of the sandbox did wrong, with the requests and what to do instead. */

import { element, fill, setText } from "./dom.js";
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
 * @property {string} remedy
 */

const SHOWN_REQUESTS = 12;
const NAMED_CLIENTS = 100;
const SEVERITIES = ["error", "warning", "note"];

/** @param {HTMLElement} panel */
export function create(panel) {
  const count = element("p", { class: "count faint" });
  const findings = element("div", { class: "findings" });
  const checked = element("p", { class: "faint" });
  panel.append(element("div", { class: "region-head" }, element("h2", {}, name), count), findings, checked);

  /** Who sent a request, by its number: a finding is about one client, and names its requests only. */
  const clients = /** @type {Map<number, string>} */ (new Map());

  /** @param {number[]} requests */
  async function readClients(requests) {
    await Promise.all(
      requests
        .filter((number) => !clients.has(number))
        .map(async (number) => {
          const { data } = await ask("GET", "requests", { query: { since: number - 1, before: number + 1 } });
          clients.set(number, data.length ? clientOf(data[0]) : "");
        }),
    );
  }

  async function refresh() {
    /** @type {{findings: Finding[], checked: Record<string, number>}} */
    const shown = await ask("GET", "conduct");
    setText(count, shown.findings.length ? counted(shown.findings.length, "finding") : "");
    const sorted = bySeverity(shown.findings);
    await readClients(sorted.slice(0, NAMED_CLIENTS).map((finding) => finding.requests[0]));
    fill(findings, sorted.length ? sorted.map((one) => article(one, clients.get(one.requests[0]))) : empty());
    const total = Object.values(shown.checked).reduce((sum, number) => sum + number, 0);
    setText(checked, total ? `Rules of conduct were checked ${counted(total, "time")}.` : "");
  }

  return {
    refresh,
    /** @param {import("./events.js").LiveEvent} event */
    hear({ kind }) {
      // The numbers of the requests begin again.
      if (kind === "reset" || kind === "gap") clients.clear();
    },
  };
}

/** @param {Finding[]} findings the worst first, and within that in the order in which they were found */
function bySeverity(findings) {
  return SEVERITIES.flatMap((severity) => findings.filter((finding) => finding.severity === severity));
}

function empty() {
  return element(
    "div",
    { class: "empty" },
    element("p", { class: "empty-title" }, "Nothing found"),
    element("p", {}, "Mistakes of your client appear here as it makes them, such as a retry that comes too early."),
  );
}

/** @param {import("./journal.js").Entry} entry */
function clientOf({ credential, user_agent: program }) {
  const sender = credential && `${credential.team.name}, ${credential.name} (${credential.key})`;
  return [sender, program].filter(Boolean).join(" · ");
}

/**
 * @param {Finding} finding
 * @param {string | undefined} client
 */
function article(finding, client) {
  return element(
    "article",
    { class: `finding finding-${finding.severity}`, "aria-label": finding.rule },
    element("h3", {}, element("span", { class: "tag severity" }, finding.severity), finding.rule),
    element("p", {}, finding.message),
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
        .slice(0, SHOWN_REQUESTS)
        .map((number) => element("a", { href: `#requests/${number}` }, `#${number}`)),
      finding.requests.length > SHOWN_REQUESTS && "…",
    ),
  );
}
