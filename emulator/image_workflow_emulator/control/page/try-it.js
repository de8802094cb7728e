/** `Try it`: an operation of the reference as a form. It is filled with an example, sends, and shows the answer. */

import { act, actButton } from "./acts.js";
import { newIdempotencyKey, sendAsClient } from "./client.js";
import { badge, element, field, fill } from "./dom.js";
import { ending } from "./journal.js";
import { json } from "./json-view.js";
import { ask, pageAddress } from "./service.js";

/** @typedef {import("./contract.js").Part} Part */

/**
 * @typedef {object} Form
 * @property {HTMLSelectElement} key
 * @property {{parameter: Part, input: HTMLInputElement}[]} parameters
 * @property {HTMLSelectElement} fault
 * @property {HTMLTextAreaElement | null} body
 */

/**
 * The form of an operation, made when it is first opened.
 * @param {import("./contract.js").Contract} contract
 * @param {Part} operation
 */
export function tryIt(contract, operation) {
  const content = element("div", {});
  const details = element("details", { class: "try" }, element("summary", {}, "Try it"), content);
  details.addEventListener("toggle", () => {
    if (details.open && !content.firstChild)
      void act(details, async () => content.append(await form(contract, operation)));
  });
  return details;
}

/**
 * @param {import("./contract.js").Contract} contract
 * @param {Part} operation
 */
async function form(contract, operation) {
  const [{ data: teams }, { data: assets }] = await Promise.all([ask("GET", "teams"), ask("GET", "assets")]);
  const assetIds = assets.map((/** @type {{id: string}} */ asset) => asset.id);
  const id = (/** @type {string} */ name) => `try-${operation.id}-${name}`;
  const fields = {
    key: element("select", { id: id("credential") }, teams.flatMap(keysOf)),
    parameters: contract.parametersOf(operation).map((parameter) => ({
      parameter,
      input: element("input", {
        id: id(parameter.name),
        autocomplete: "off",
        spellcheck: "false",
        required: parameter.required,
        value: firstValue(parameter, assetIds),
      }),
    })),
    fault: element(
      "select",
      { id: id("fault") },
      element("option", { value: "" }, "none"),
      contract.faultsOf(operation).map((code) => element("option", { value: code }, code)),
    ),
    body: bodyOf(contract, operation, id("body"), assetIds),
  };
  const idempotencyKey = fields.parameters.find(({ parameter }) => parameter.name === "Idempotency-Key");
  const answer = element("div", { class: "answer", "aria-live": "polite" });
  const send = element("button", { class: "primary" }, "Send");
  const made = element(
    "form",
    {},
    field("Credential", fields.key),
    fields.parameters.map(({ parameter, input }) => field(parameter.name, input)),
    field("Fault (Emulator-Fault)", fields.fault),
    fields.body && field("Body", fields.body, "try-body"),
    element("div", { class: "buttons" }, send, idempotencyKey && newKeyButton(idempotencyKey.input)),
  );
  made.addEventListener("submit", (event) => {
    event.preventDefault();
    void act(send, async () => fill(answer, describeAnswer(await sendAsClient(requestOf(operation, fields)))));
  });
  return element("div", { class: "try-content" }, made, answer);
}

/** @param {HTMLInputElement} input */
function newKeyButton(input) {
  return actButton("New Idempotency-Key", () => {
    input.value = newIdempotencyKey();
  });
}

/** @param {Part} team */
function keysOf(team) {
  return team.credentials.map((/** @type {Part} */ { key, profile, state }) =>
    element(
      "option",
      { value: key },
      `${team.name}: ${key}`,
      profile === "full" ? "" : `, ${profile}`,
      state === "active" ? "" : `, ${state}`,
    ),
  );
}

/**
 * What a parameter's field begins with: what there is if it is needed, else nothing.
 * @param {Part} parameter
 * @param {string[]} assetIds
 */
function firstValue({ name, required, example, schema }, assetIds) {
  if (name === "Idempotency-Key") return newIdempotencyKey();
  if (!required) return "";
  return fitted(String(example ?? schema.example ?? ""), assetIds);
}

/**
 * The shortest example of a body, about Assets that exist.
 * @param {import("./contract.js").Contract} contract
 * @param {Part} operation
 * @param {string} id
 * @param {string[]} assetIds
 */
function bodyOf(contract, operation, id, assetIds) {
  const content = contract.contentOf(operation);
  if (!content) return null;
  const examples = Object.values(content.examples ?? {}).map((example) => contract.resolve(example).value);
  const texts = examples.map((value) => JSON.stringify(value, null, 2)).sort((one, other) => one.length - other.length);
  const text = fitted(texts[0] ?? "{}", assetIds);
  return element("textarea", { id, spellcheck: "false", rows: Math.min(text.split("\n").length + 1, 16) }, text);
}

/**
 * Name Assets that exist in the place of those of an example, each by another, as far as there are enough.
 * @param {string} text
 * @param {string[]} assetIds newest first
 */
function fitted(text, assetIds) {
  const named = [...new Set(text.match(/\bast_\w+/g) ?? [])];
  return named.reduce((fit, name, index) => fit.replaceAll(name, assetIds[index] ?? name), text);
}

/**
 * @param {Part} operation
 * @param {Form} fields
 */
function requestOf(operation, { key, parameters, fault, body }) {
  const query = new URLSearchParams();
  const headers = /** @type {Record<string, string>} */ ({});
  let { path } = operation;
  for (const { parameter, input } of parameters) {
    if (parameter.in === "path") path = path.replace(`{${parameter.name}}`, encodeURIComponent(input.value));
    else if (input.value && parameter.in === "query") query.set(parameter.name, input.value);
    else if (input.value) headers[parameter.name] = input.value;
  }
  if (fault.value) headers["Emulator-Fault"] = fault.value;
  const search = query.size ? `?${query}` : "";
  return { method: operation.method, path: path + search, key: key.value, headers, body: body?.value };
}

/** @param {import("./client.js").Answer} answer */
function describeAnswer({ status, body, entry }) {
  const { kind, sign, word } = ending({ status, replayed: entry?.replayed ?? false, isComplete: true });
  return [
    element(
      "p",
      { class: "buttons" },
      badge(kind, sign, `${status ?? ""} ${word}`),
      element(
        "a",
        { class: "button", href: pageAddress(entry ? `requests/${entry.sequence}` : "requests") },
        "Explain in Requests",
      ),
      ["generation", "operation"].includes(body?.object) &&
        element("a", { class: "button", href: pageAddress(`work/${body.id}`) }, "Show the work"),
    ),
    body !== null && json(body, "Answer"),
  ];
}
