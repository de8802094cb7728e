/** Two requests beside each other: one sent again, as it was or changed, through `/v1`, or compared with another. */

import { keysOf, newIdempotencyKey, sendAsClient } from "./client.js";
import { faultsOf } from "./faults.js";
import { journal } from "./journal.js";
import { ask, pageAddress } from "./service.js";
import { contract, operations, teams } from "./store.js";
import { act, actButton, field, html, options, part, useEffect, useState } from "./ui.js";

const MAX_COMPARED = 50;

/** The problem codes that an operation can be asked for, by its id. */
async function codesOf(id) {
  const { components } = await contract.get();
  return faultsOf((await operations()).get(id), components);
}

/** A form for a request of the journal. */
export function SendAgain({ entry }) {
  const [first] = useState(() => firstTry(entry));
  const [request, change] = useState(first);
  const [known, keep] = useState({ credentials: [], faults: [] });
  const [answer, show] = useState(null);
  useEffect(() => {
    void Promise.all([teams.get(), codesOf(entry.operation)]).then(([data, faults]) => {
      keep({ credentials: data.flatMap(keysOf), faults });
      const sender = data.flatMap(({ credentials }) => credentials).find((one) => one.id === entry.credential?.id);
      change((request) => ({ ...request, credential: sender?.key ?? "" }));
    });
  }, []);
  const hasBody = entry.method !== "GET" && entry.method !== "DELETE";
  const changes =
    (name) =>
    (/** @type {any} */ { currentTarget: { value } }) => {
      const next = { ...request, [name]: value };
      const isOther = next.body !== first.body || next.fault !== first.fault;
      // The same key with another intent would only be refused; one that a person chose stays.
      if (name !== "key" && isOther && request.key && request.key === first.key) next.key = newIdempotencyKey();
      if (name !== "key" && !isOther) next.key = first.key;
      change(next);
    };
  const send = async () => {
    const headers = /** @type {Record<string, string>} */ ({});
    if (request.key) headers["Idempotency-Key"] = request.key;
    if (request.fault) headers["Emulator-Fault"] = request.fault;
    const path = entry.path.replace(/^\/v1/, "") + (entry.query ? `?${entry.query}` : "");
    const body = hasBody && request.body ? request.body : undefined;
    show(await sendAsClient({ method: entry.method, path, key: request.credential, headers, body }));
  };
  const input = (label, name, kind, /** @type {any} */ content = null, rows = "") =>
    field(
      label,
      `again-${name}`,
      html`
        <${kind} id=${`again-${name}`} value=${request[name]} onInput=${changes(name)} autocomplete="off"
          rows=${rows || null} spellcheck=${false} disabled=${name === "body" && !hasBody}>${content}<//>
      `,
    );
  const submit = (event) => {
    event.preventDefault();
    void act(event.submitter ?? event.currentTarget, send);
  };
  const form = html`
    <form class="again" onSubmit=${submit}>
      ${input("Idempotency-Key", "key", "input")}
      ${input("Credential", "credential", "select", options([["", "none"], ...known.credentials]))}
      ${input("Fault", "fault", "select", options([["", "none"], ...known.faults]))}
      ${input("Body", "body", "textarea", null, "8")}
      <div class="buttons">
        <button class="primary">Send</button>
        ${actButton("New key", () => change({ ...request, key: newIdempotencyKey() }))}
      </div>
    </form>
  `;
  return part("Send again", [
    form,
    html`<div class="answers" aria-live="polite">${answer && answers(entry, answer)}</div>`,
  ]);
}

function firstTry({ idempotency_key: key, request_body: body, code }) {
  const text = typeof body === "string" ? body : JSON.stringify(body, null, 2);
  // A refusal for want of Credits is bound to its key: with the same one it would only be answered again.
  const first = code === "insufficient_credits" && key ? newIdempotencyKey() : key;
  return { key: first ?? "", fault: "", body: body === null ? "" : text, credential: "" };
}

function answers(entry, answer) {
  const { sequence, replayed } = answer.entry ?? {};
  const link = sequence && html`<a href=${pageAddress(`requests/${sequence}`)}>#${sequence}</a>`;
  const note = replayed && html`<span class="tag">a replay: the stored answer, nothing was done again</span>`;
  const [one, other] = [linesOf(entry.status, entry.response_body), linesOf(answer.status, answer.body)];
  return [lines("First answer", one, other), lines("New answer", other, one, [link, " ", note])];
}

/** A request beside another one of the journal. */
function Comparison({ entry }) {
  const others = [...journal.bySequence.values()].filter(({ sequence }) => sequence !== entry.sequence).reverse();
  const same = others.filter((one) => one.name === (entry.operation ?? `${entry.method} ${entry.path}`));
  const choice = [...same, ...others.filter((one) => !same.includes(one))].slice(0, MAX_COMPARED);
  const nearest = same.find(({ sequence }) => sequence < entry.sequence) ?? choice[0];
  const [wanted, want] = useState(String(nearest?.sequence ?? ""));
  const [other, show] = useState(null);
  useEffect(() => {
    if (wanted) void ask("GET", `requests/${wanted}`).then(show, () => show(null));
  }, [wanted]);
  const text = ({ sequence, name, status, at }) => `#${sequence} ${name} ${status ?? ""} ${at.slice(11, 19)}`;
  const chosen = html`
    <select id="compare" value=${wanted} onChange=${({ currentTarget }) => want(currentTarget.value)}>
      ${options(choice.map((one) => [String(one.sequence), text(one)]))}
    </select>
  `;
  const [left, right] = [wholeOf(entry), other ? wholeOf(other) : []];
  const link = html`<a href=${pageAddress(`requests/${wanted}`)}>#${wanted}</a>`;
  return part("Compare", [
    field("With", "compare", chosen),
    other &&
      html`
      <div class="answers">
        ${lines(`Request ${entry.sequence}`, left, right)}${lines("Request", right, left, link, `Request ${wanted}`)}
      </div>
    `,
  ]);
}

export function compared(entry) {
  return html`<${Comparison} key=${entry.sequence} entry=${entry} />`;
}

function wholeOf(entry) {
  const { method, path, query, credential, idempotency_key: key, request_body: body } = entry;
  const sent = [
    `${method} ${path}${query ? `?${query}` : ""}`,
    credential && `${credential.team.name}, ${credential.name}`,
  ];
  return [
    ...sent,
    key && `Idempotency-Key: ${key}`,
    ...linesOf("", body),
    ...linesOf(entry.status, entry.response_body),
  ].filter(Boolean);
}

function linesOf(status, body) {
  return [String(status ?? "no answer"), ...(body === null ? [] : JSON.stringify(body, null, 2).split("\n"))];
}

/** Lines, those marked that the others do not have. */
function lines(title, lines, others, /** @type {any} */ beside = null, name = title) {
  const known = new Set(others);
  const line = (text) =>
    known.has(text) ? `${text}\n` : html`<mark><span class="visually-hidden">differs: </span>${`${text}\n`}</mark>`;
  return html`
    <div role="group" aria-label=${name}>
      <h4>${title} ${beside}</h4>
      <pre class="json" tabindex="0">${lines.map(line)}</pre>
    </div>
  `;
}
