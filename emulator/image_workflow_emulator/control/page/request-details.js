/** One request explained: what decided, what would have helped, what happened, and everything that was said. */

import { json, linked } from "./ids.js";
import { ending } from "./journal.js";
import { codePlace, decisionPlace } from "./places.js";
import { compared, SendAgain } from "./send-again.js";
import { ask, Refusal, referenceAddress } from "./service.js";
import { operations, teams } from "./store.js";
import { actButton, badge, copy, html, notify, part, remedy } from "./ui.js";
import { counted, duration, sentence, withoutPointers } from "./words.js";
import { makeRule } from "./workbench.js";

const CHECK_SIGNS = { passed: "✓", decided: "●", "not reached": "○", "not known": "?" };

const GONE = "the journal does not have it any more";
const REPLACED = "the emulator was started again, and the number is that of another request now";
const RESET = "the sandbox was reset";

/**
 * @param {() => void} close closes what is open
 * @param {() => void} draw shows it again
 */
export function createDetails(close, draw) {
  let opened = null;
  /** the request as it was read last */
  let entry = null;
  let missing = "";
  /** The operations of the contract, once they are read. */
  let byId = null;
  /** The form below the buttons: to send it again, or to compare it. */
  let tool = "";
  let root = null;
  let content = null;

  document.addEventListener("keydown", (event) => {
    const isInField = event.target instanceof Element && event.target.matches("input, select, textarea, dialog *");
    if (event.key !== "Escape" || !root?.offsetParent || isInField) return;
    event.preventDefault();
    close();
  });

  async function refresh() {
    const wanted = opened;
    if (wanted === null) return;
    const known = entry;
    let read = null;
    try {
      [read] = await Promise.all([ask("GET", `requests/${wanted}`), learnOperations()]);
    } catch (error) {
      // What cannot be reached may still be there.
      if (!(error instanceof Refusal) || error.status !== 404) throw error;
      missing = error.message;
    }
    if (wanted !== opened || known !== entry) return;
    if (known && read?.arrived_at !== known.arrived_at) return leave(read === null ? GONE : REPLACED);
    entry = read;
    show();
  }

  /** Close a request that the emulator does not have any more, and say why. */
  function leave(why) {
    notify(`Request ${opened} was closed: ${why}.`);
    close();
  }

  async function learnOperations() {
    byId ??= await operations().catch(() => null);
  }

  function show() {
    const operation = byId?.get(entry?.operation);
    content = entry
      ? describe(entry, operation, close, tool, use)
      : [top(`Request ${opened}`, null, close), faint(missing)];
    draw();
  }

  function use(wanted) {
    tool = tool === wanted ? "" : wanted;
    show();
  }

  return {
    refresh,
    /** The sandbox was reset. */
    leave: () => opened !== null && leave(RESET),
    opened: () => opened,
    focus: () => root?.focus(),
    view: () => html`
      <div class="details" role="region" aria-label="Details of the request" hidden=${opened === null} tabindex="-1"
        ref=${(element) => (root = element)}>${opened !== null && content}</div>
    `,
    async open(sequence) {
      if (opened === sequence) return;
      opened = sequence;
      entry = null;
      missing = tool = "";
      root?.scrollTo(0, 0);
      await refresh();
    },
  };
}

function faint(text) {
  return html`<p class="faint">${text}</p>`;
}

/** An explanation with fields named in words, and ids as links. */
function forPeople(text) {
  return linked(withoutPointers(text));
}

function top(title, state, close) {
  // An operation id breaks between its words only.
  const words = title.split(/(?=[A-Z])/).map((word) => [html`<wbr />`, word]);
  return html`
    <div class="details-head">
      ${state}<h2 class="details-title">${words}</h2>
      <button type="button" class="quiet close" aria-label="Close" onClick=${close}>✕</button>
    </div>
  `;
}

function describe(entry, operation, close, tool, use) {
  const { explanation, path, query, sequence } = entry;
  const { kind, sign } = ending({ ...entry, isComplete: entry.duration_ms !== null, isLost: entry.lost });
  const state = badge(`${kind} badge-large`, sign, entry.status ?? "—");
  const effects = explanation.effects.map((effect) => html`<li>${linked(effect)}</li>`);
  return html`
    ${top(entry.operation ?? `${entry.method} ${path}`, state, close)}
    <p class="details-line"><code>${linked(`${entry.method} ${query ? `${path}?${query}` : path}`)}</code></p>
    <p class="summary">${forPeople(explanation.summary)}</p>
    ${explanation.remedy && remedy(/** @type {any} */ (forPeople(explanation.remedy)))}
    <div class="buttons">${links(entry, operation, tool, use)}</div>
    ${tool === "again" && html`<${SendAgain} key=${sequence} entry=${entry} />`}
    ${tool === "compare" && compared(entry)}
    ${part("Checks", checks(explanation.checks))}
    ${causes(explanation)}
    ${facts(entry)}
    ${effects.length > 0 && part("Effects", html`<ul class="plain">${effects}</ul>`)}
    ${bodySection("Request body", entry.request_body)}
    ${headers("Response headers", entry.response_headers)}
    ${bodySection("Response body", entry.response_body)}
  `;
}

function links(entry, operation, tool, use) {
  const { related } = entry.explanation;
  const made = entry.status === 202 ? entry.response_body?.id : null;
  const link = (text, href, title = "") => html`<a class="button" href=${href} title=${title || null}>${text}</a>`;
  return [
    entry.curl && actButton("Copy as curl", async (button) => copy(await curlOf(entry), button)),
    entry.explanation.missing_credits && addCredits(entry),
    entry.path.startsWith("/v1/") &&
      actButton("Send again", () => use("again"), { class: "changes", "aria-expanded": tool === "again" }),
    actButton("Compare", () => use("compare"), { "aria-expanded": tool === "compare" }),
    entry.operation && actButton("Make a rule", () => makeRule(entry), { class: "changes" }),
    related?.sequence && link("Original", `#requests/${related.sequence}`, "its answer was stored, and sent again"),
    made && link("Show the work", `#work/${made}`),
    operation && link("In the reference", referenceAddress(operation)),
  ];
}

/** The button that gives the Team what it lacked. */
function addCredits({ credential, explanation: { missing_credits: missing } }) {
  const add = async () => {
    const team = (await teams.renew()).find(({ id }) => id === credential.team.id);
    const credits = team.credits + missing;
    await ask("PATCH", `teams/${encodeURIComponent(team.id)}`, { json: { credits } });
    return `${team.name} has ${counted(credits, "Credit")}`;
  };
  return actButton(`Add ${counted(missing, "Credit")}`, add, { class: "primary changes" });
}

function facts(entry) {
  const { credential } = entry;
  const owner = credential && html`<a href="#teams">${credential.name} (${credential.key})</a>`;
  const rows = [
    ["Time", entry.at],
    ["Took", entry.duration_ms === null ? "still in flight" : duration(entry.duration_ms)],
    ["Code", entry.code && html`<a href=${codePlace(entry.code)}>${entry.code}</a>`],
    ["Team", credential?.team.name],
    ["Credential", owner],
    ["Idempotency-Key", entry.idempotency_key],
    ["Request-Id", entry.request_id],
    ["Client", entry.user_agent],
    ["Arrived", entry.arrived_at && `${entry.arrived_at} (host time)`],
    ["Note", entry.note],
  ];
  return listOfFacts(rows.filter(([, value]) => value));
}

function listOfFacts(rows) {
  const shown = (value) => (typeof value === "string" ? linked(value) : value);
  return html`
    <dl class="facts">${rows.map(([term, value]) => html`<dt>${term}</dt><dd dir="auto">${shown(value)}</dd>`)}</dl>
  `;
}

/** What in a scenario had a hand in it: rules, and a change of the timeline, each with file and line. */
function causes({ rules, decided_by: decided }) {
  const change = decided?.timeline;
  const all = rules.map((rule) => cause(`Rule ${rule.name ?? ""}`, rule, rule.did));
  if (change) all.push(cause("Timeline", change, `changed this at ${change.at}`));
  return all.length > 0 && part("Scenario", html`<ul class="plain causes">${all}</ul>`);
}

function cause(title, { file, line }, what) {
  const place = file && html`<code class="place">${line ? `${file}, line ${line}` : file}</code>`;
  return html`<li><strong>${title}</strong>${place}<span>${what}</span></li>`;
}

function checks(list) {
  const decidedAt = list.findIndex((check) => check.result === "decided");
  const item = ({ check, result, detail, source }, index) => html`
    <li class=${`check check-${result.replace(" ", "-")} ${decidedAt >= 0 && index > decidedAt ? "is-after" : ""}`}>
      <span class="check-sign" aria-hidden="true">
        ${CHECK_SIGNS[/** @type {keyof typeof CHECK_SIGNS} */ (result)] ?? "·"}
      </span>
      <div>
        <span class="check-name">${sentence(check)}</span>
        <span class=${result === "decided" ? "tag" : "visually-hidden"}>${result}</span>
        ${detail && html`<p class="check-detail">${forPeople(detail)}</p>`}
        ${result === "decided" && source && cited(source)}
      </div>
    </li>
  `;
  return html`<ol class="checks">${list.map(item)}</ol>`;
}

function cited({ section, decisions }) {
  const links = decisions.map((one) => html`<a class="decision" href=${decisionPlace(one)}>${one}</a>`);
  return html`<p class="faint">Specification, section ${section} ${links}</p>`;
}

function bodySection(title, body) {
  if (body === null || body === undefined) return null;
  const names = { class: "quiet", "aria-label": `Copy the ${title.toLowerCase()}` };
  const button = actButton("Copy", (button) => copy(JSON.stringify(body, null, 2), button), names);
  return part(title, html`<div class="body">${button}${json(body, title)}</div>`);
}

function headers(title, list) {
  const pairs = Array.isArray(list) ? list : Object.entries(list ?? {});
  if (!pairs.length) return null;
  const count = html`<span class="faint">${counted(pairs.length, "header")}</span>`;
  return html`<details class="headers"><summary>${title} ${count}</summary>${listOfFacts(pairs)}</details>`;
}

/** The request as a command: with its key where the page can see it, else with the variable that clients are given. */
async function curlOf({ curl, credential }) {
  const credentials = (await teams.get()).flatMap((team) => team.credentials);
  const key = credentials.find((one) => one.id === credential?.id)?.key;
  if (!key) return curl;
  const quoted = `'Authorization: Bearer ${key.replaceAll("'", "'\\''")}'`;
  return curl.replace('"Authorization: Bearer $IMAGE_WORKFLOW_API_KEY"', () => quoted);
}
