/** The contract for people: operations, problem codes, schemas and decisions, each at an address of its own. */

import { Contract, decisionsOf, lastStep } from "./contract.js";
import { byId, element, fill } from "./dom.js";
import { json } from "./json-view.js";
import { ask, onTokenNeeded, pageAddress, ROOT } from "./service.js";
import { askForToken } from "./token.js";
import { tryIt } from "./try-it.js";
import { counted } from "./words.js";

/** @typedef {import("./contract.js").Part} Part */

/**
 * A text of the contract, in which words in backticks are code.
 * @param {string | undefined} text
 */
function prose(text) {
  return (text ?? "")
    .split(/(`[^`]+`)/)
    .map((part) => (part.startsWith("`") ? element("code", {}, part.slice(1, -1)) : part));
}

/** @param {Part} part */
function decisions(part) {
  const cited = decisionsOf(part);
  return (
    cited.length > 0 &&
    element(
      "p",
      { class: "cited" },
      element("span", { class: "faint" }, "Decisions "),
      cited.map((id) => element("a", { class: "decision", href: `#${id}` }, id)),
    )
  );
}

/** @param {string} name */
function schemaLink(name) {
  return element("a", { href: `#${name}` }, name);
}

/**
 * What a value may be, in a line.
 * @param {Part} schema
 * @returns {(Node | string)[]}
 */
function typeOf(schema) {
  if (schema.$ref) return [schemaLink(lastStep(schema.$ref))];
  if (schema.oneOf)
    return schema.oneOf.flatMap((/** @type {Part} */ one, /** @type {number} */ index) => [
      index ? " or " : "",
      ...typeOf(one),
    ]);
  if (schema.const !== undefined) return [element("code", {}, JSON.stringify(schema.const))];
  if (schema.type === "array") return ["list of ", ...typeOf(schema.items ?? {})];
  const type = [schema.type ?? "any"].flat().join(" or ");
  return [schema.format ? `${type} (${schema.format})` : type];
}

/**
 * The bounds of a value, in words.
 * @param {Part} schema
 */
function bounds(schema) {
  /** @type {[string, string][]} */
  const words = [
    ["minimum", "at least"],
    ["maximum", "at most"],
    ["minLength", "characters, at least"],
    ["maxLength", "characters, at most"],
    ["minItems", "items, at least"],
    ["maxItems", "items, at most"],
    ["default", "default"],
    schema["x-expected"] ? ["x-expected", "expected:"] : ["pattern", "pattern"],
  ];
  return words
    .filter(([key]) => schema[key] !== undefined)
    .map(([key, word]) => `${word} ${schema[key]}`)
    .join("; ");
}

/** @param {Part} schema */
function choices(schema) {
  return (
    schema.enum &&
    element(
      "p",
      { class: "choices" },
      schema.enum.map((/** @type {unknown} */ word) => element("code", {}, String(word))),
    )
  );
}

/**
 * A table of named values.
 * @param {string} caption
 * @param {{name: string, schema: Part, description?: string, isRequired: boolean, note?: string}[]} rows
 */
function table(caption, rows) {
  return element(
    "div",
    {},
    element(
      "table",
      { class: "fields" },
      element("caption", { class: "visually-hidden" }, caption),
      element(
        "tbody",
        {},
        rows.map(({ name, schema, description, isRequired, note }) =>
          element(
            "tr",
            {},
            element(
              "th",
              { scope: "row" },
              element("code", {}, name),
              element("span", { class: "faint" }, isRequired ? " required" : ""),
              note && element("span", { class: "faint" }, ` ${note}`),
            ),
            element(
              "td",
              {},
              element(
                "p",
                { class: "type" },
                ...typeOf(schema),
                bounds(schema) && element("span", { class: "faint" }, ` ${bounds(schema)}`),
              ),
              element("p", {}, prose(description ?? schema.description)),
              choices(schema),
            ),
          ),
        ),
      ),
    ),
  );
}

/**
 * @param {Contract} contract
 * @param {Part} operation
 */
function describeOperation(contract, operation) {
  const parameters = contract.parametersOf(operation);
  const body = contract.contentOf(operation);
  const example = body && Object.values(body.examples ?? {})[0];
  const cost = operation["x-service-credit-cost"];
  return element(
    "article",
    { class: "operation-part", id: operation.id, "aria-labelledby": `${operation.id}-title` },
    element("h3", { id: `${operation.id}-title` }, element("a", { href: `#${operation.id}` }, operation.id)),
    element(
      "p",
      { class: "route" },
      element("span", { class: `method method-${operation.method.toLowerCase()}` }, operation.method),
      element("code", {}, operation.path),
    ),
    element("p", { class: "lead" }, operation.summary),
    element("p", {}, prose(operation.description)),
    cost && element("p", {}, element("span", { class: "tag" }, `Credits: ${cost}`)),
    decisions(operation),
    parameters.length > 0 && element("h4", {}, "Parameters"),
    parameters.length > 0 &&
      table(
        `Parameters of ${operation.id}`,
        parameters.map((one) => ({
          name: one.name,
          schema: one.schema,
          description: one.description,
          isRequired: Boolean(one.required),
          note: one.in,
        })),
      ),
    body && element("h4", {}, "Body"),
    body && element("p", {}, ...typeOf(body.schema)),
    example && json(contract.resolve(example).value, `Example of a body of ${operation.id}`),
    tryIt(contract, operation),
    element("h4", {}, "Responses"),
    element(
      "table",
      { class: "responses" },
      element(
        "tbody",
        {},
        Object.entries(operation.responses).map(([status, response]) => describeResponse(contract, status, response)),
      ),
    ),
  );
}

/**
 * @param {Contract} contract
 * @param {string} status
 * @param {Part} reference
 */
function describeResponse(contract, status, reference) {
  const response = contract.resolve(reference);
  const content = Object.values(response.content ?? {})[0];
  const codes = contract.codesOf(response);
  const kind = status.startsWith("2") ? "good" : status.startsWith("4") ? "refused" : "failed";
  return element(
    "tr",
    {},
    element(
      "th",
      { scope: "row" },
      element("span", { class: `badge badge-${kind}` }, status === "default" ? "other" : status),
    ),
    element(
      "td",
      {},
      element("p", {}, prose(response.description)),
      status.startsWith("2") && content && element("p", { class: "type" }, ...typeOf(content.schema)),
      codes.length > 0 &&
        element(
          "p",
          { class: "choices" },
          codes.map((code) => element("a", { href: `#${code}` }, element("code", {}, code))),
        ),
    ),
  );
}

/** @param {[string, Part]} named */
function describeSchema([name, schema]) {
  const required = new Set(schema.required ?? []);
  const fields = Object.entries(schema.properties ?? {});
  return element(
    "div",
    { class: "operation-part", id: name },
    element("h3", {}, element("a", { href: `#${name}` }, name)),
    element("p", {}, prose(schema.description)),
    decisions(schema),
    schema.oneOf && element("p", { class: "type" }, ...typeOf(schema)),
    choices(schema),
    fields.length > 0 &&
      table(
        `Fields of ${name}`,
        fields.map(([field, value]) => ({ name: field, schema: value, isRequired: required.has(field) })),
      ),
  );
}

/** @param {ReturnType<Contract["codes"]>[number]} problem */
function describeCode({ code, statuses, operations, example }) {
  return element(
    "div",
    { class: "operation-part", id: code },
    element("h3", {}, element("a", { href: `#${code}` }, code)),
    element(
      "p",
      { class: "choices" },
      statuses.map((status) => element("span", { class: "badge badge-refused" }, status)),
    ),
    example?.title && element("p", {}, example.title),
    operations.length > 0 &&
      element(
        "details",
        {},
        element("summary", {}, counted(operations.length, "operation")),
        element(
          "p",
          { class: "choices" },
          operations.map((id) => element("a", { href: `#${id}` }, id)),
        ),
      ),
  );
}

/** @param {{id: string, title: string, specification: string, emulator: string, client: string}} decision */
function describeDecision({ id, title, specification, emulator, client }) {
  return element(
    "div",
    { class: "operation-part", id },
    element("h3", {}, element("a", { href: `#${id}` }, `${id} ${title}`)),
    element(
      "dl",
      { class: "ledger" },
      element("dt", {}, "The specification"),
      element("dd", {}, prose(specification)),
      element("dt", {}, "The emulator"),
      element("dd", {}, prose(emulator)),
      element("dt", {}, "A client"),
      element("dd", {}, prose(client)),
    ),
  );
}

/**
 * A list of links of the contents, closed until it is looked into.
 * @param {string} title
 * @param {{id: string, text: string}[]} links
 * @param {boolean} isOpen
 */
function chapter(title, links, isOpen) {
  return element(
    "details",
    { open: isOpen, class: "chapter" },
    element("summary", {}, title),
    element(
      "ul",
      {},
      links.map(({ id, text }) => element("li", {}, element("a", { href: `#${id}` }, text))),
    ),
  );
}

/**
 * Leave only those links that have what is looked for in them.
 * @param {HTMLElement} contents
 * @param {string} wanted
 */
function narrow(contents, wanted) {
  for (const part of contents.querySelectorAll("details")) {
    let found = 0;
    for (const item of part.querySelectorAll("li")) {
      item.hidden = !item.textContent?.toLowerCase().includes(wanted);
      if (!item.hidden) found += 1;
    }
    part.hidden = found === 0;
    if (wanted) part.open = true;
  }
}

async function show() {
  const [document_, { data: ledger }] = await Promise.all([ask("GET", "/contract.json"), ask("GET", "/decisions")]);
  const contract = new Contract(document_);
  const tags = contract.tags();
  const codes = contract.codes();
  const schemas = contract.schemas();
  const filter = element("input", { id: "find", type: "search", autocomplete: "off" });
  const contents = byId("contents");
  filter.addEventListener("input", () => narrow(contents, filter.value.trim().toLowerCase()));
  fill(byId("facts"), `${document_.info.title} `, element("span", { class: "faint" }, document_.info.version));
  fill(
    contents,
    element("div", { class: "field" }, element("label", { for: "find" }, "Find"), filter),
    tags.map((/** @type {Part} */ tag) =>
      chapter(
        tag.name,
        tag.operations.map((/** @type {Part} */ one) => ({ id: one.id, text: one.id })),
        true,
      ),
    ),
    chapter(
      "Problem codes",
      codes.map(({ code }) => ({ id: code, text: code })),
      false,
    ),
    chapter(
      "Schemas",
      schemas.map(([name]) => ({ id: name, text: name })),
      false,
    ),
    chapter(
      "Decisions",
      ledger.map((/** @type {Part} */ one) => ({ id: one.id, text: `${one.id} ${one.title}` })),
      false,
    ),
  );
  fill(
    byId("reference"),
    element("p", { class: "lead" }, prose(document_.info.summary)),
    element(
      "p",
      {},
      "The same as a file: ",
      element("a", { href: new URL("contract.yaml", ROOT) }, "YAML"),
      ", ",
      element("a", { href: new URL("contract.json", ROOT) }, "JSON"),
      ".",
    ),
    ...tags.flatMap((/** @type {Part} */ tag) => [
      element("h2", {}, tag.name),
      element("p", { class: "faint" }, prose(tag.description)),
      ...tag.operations.map((/** @type {Part} */ one) => describeOperation(contract, one)),
    ]),
    element("h2", {}, "Problem codes"),
    ...codes.map(describeCode),
    element("h2", {}, "Schemas"),
    ...schemas.map(describeSchema),
    element("h2", {}, "Decisions"),
    element(
      "p",
      { class: "faint" },
      "Where the specification says nothing or leaves a choice: what the emulator does, and what a client should do about it.",
    ),
    ...ledger.map(describeDecision),
  );
}

/** Go where the address points, once it is there. */
function reveal() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  target?.scrollIntoView();
  // Parts that come into view take their true height: once more, from near by.
  requestAnimationFrame(() => requestAnimationFrame(() => target?.scrollIntoView()));
}

onTokenNeeded(askForToken);
byId("page-link").setAttribute("href", pageAddress().href);
show().then(reveal, (error) => fill(byId("reference"), element("p", { role: "alert" }, error.message)));
