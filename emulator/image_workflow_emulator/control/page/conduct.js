/** The region `Conduct`: what the clients of the sandbox did wrong, with the requests and what to do instead. */

import { linked } from "./ids.js";
import { ask } from "./service.js";
import { teams } from "./store.js";
import { empty, head, html, part, remedy, render } from "./ui.js";
import { counted } from "./words.js";

export const name = "Conduct";
export const place = "main";
export const concerns = ["request", "clock", "reset"];

const MAX_SHOWN_REQUESTS = 12;
const MAX_SHOWN_MESSAGES = 6;
const SEVERITIES = ["error", "warning", "note"];
const NOTHING = "Mistakes of your client appear here as it makes them, such as a retry that comes too early.";

export function create(panel) {
  async function refresh() {
    const [{ findings, checked }, owners] = await Promise.all([ask("GET", "conduct"), teams.get()]);
    const bySeverity = SEVERITIES.flatMap((severity) => findings.filter((finding) => finding.severity === severity));
    const sorted = grouped(bySeverity);
    const senders = sendersOf(owners);
    const broken = new Set(findings.map(({ rule }) => rule));
    const kept = Object.keys(checked).filter((rule) => checked[rule] > 0 && !broken.has(rule));
    const view = [
      head(name, html`<p class="count faint">${sorted.length > 0 && counted(sorted.length, "finding")}</p>`),
      html`
        <div class="findings">
          ${sorted.length ? sorted.map((one) => article(one, senders)) : empty("Nothing found", NOTHING)}
        </div>
      `,
      rules("Broken", [...broken]),
      rules("Kept", kept),
    ];
    render(view, panel);
  }
  return { refresh };
}

/** The names of rules, as links to what they say. */
function rules(title, names) {
  const link = (rule) => html`<li><a href="#help/reference/conduct-rules"><code>${rule}</code></a></li>`;
  return names.length > 0 && part(title, html`<ul class="names">${names.map(link)}</ul>`);
}

/** One finding for each rule and client, whatever the operations that it was found in. */
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

/** @returns {Map<string | null, string>} by the id of a credential: whose it is */
function sendersOf(teams) {
  return new Map(teams.flatMap((team) => team.credentials.map(({ id, name }) => [id, `${team.name}, ${name}`])));
}

function article(finding, senders) {
  const { rule, severity, messages, requests } = finding;
  const client = [senders.get(finding.client.credential), finding.client.user_agent].filter(Boolean).join(" · ");
  const more = messages.length - MAX_SHOWN_MESSAGES;
  const shown = requests.slice(0, MAX_SHOWN_REQUESTS);
  return html`
    <article class=${`finding finding-${severity}`} aria-label=${rule} key=${`${rule} ${client}`}>
      <h3><span class="tag severity">${severity}</span>${rule}</h3>
      ${messages.slice(0, MAX_SHOWN_MESSAGES).map((message) => html`<p>${linked(message)}</p>`)}
      ${more > 0 && html`<p class="soft">and ${counted(more, "more place")}</p>`}
      ${client && html`<p class="soft">Client: <bdi>${client}</bdi></p>`}
      ${remedy(finding.remedy)}
      <p class="soft">${finding.source} <a href="#help/reference/conduct-rules">All rules of conduct</a></p>
      <p class="finding-requests">
        <span class="faint">${counted(requests.length, "request")}</span>
        ${shown.map((number) => html`<a href=${`#requests/${number}`}>#${number}</a>`)}
        ${requests.length > shown.length && "…"}
      </p>
    </article>
  `;
}
