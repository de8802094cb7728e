/** The scenario workbench: a file is edited, checked as it is typed with the requests that came already, used, and saved. */

import { act, actButton, download } from "./acts.js";
import { element, fill, field as labelled } from "./dom.js";
import { ask, Refusal } from "./service.js";

const EMPTY = `# yaml-language-server: $schema=scenario.schema.json
scenario: my-scenario
description: What goes wrong, and what a good client does.
rules: []
`;

const PAUSE_MS = 500;

/** A rule that waits for the editor. */
let waiting = "";

/**
 * Make a rule that does again to the next such request what became of this one, or fails it, and open it in the editor.
 * @param {any} entry
 */
export function makeRule({ sequence, operation, code, request_body: body, credential }) {
  const plain = Object.entries(body ?? {}).filter(([, value]) =>
    ["string", "number", "boolean"].includes(typeof value),
  );
  const match = [
    `operation: ${operation}`,
    credential && `team: ${JSON.stringify(credential.team.name)}`,
    typeof body === "object" && plain.length > 0 && `body: ${JSON.stringify(Object.fromEntries(plain))}`,
  ];
  waiting = [
    `- name: as request ${sequence}`,
    `  match: {${match.filter(Boolean).join(", ")}}`,
    "  when: {nth: 1}",
    `  then: {problem: ${code ?? "internal_error"}}`,
  ].join("\n");
  location.hash = "#scenario/edit";
  dispatchEvent(new HashChangeEvent("hashchange"));
}

/**
 * @param {() => string} chosen the name of a scenario of the library to begin with, or an empty text
 * @param {() => Promise<unknown>} used reads the running scenario again
 */
export function createWorkbench(chosen, used) {
  const field = element("textarea", { id: "scenario-file", spellcheck: "false", rows: 16, wrap: "off" });
  const marks = element("div", { class: "marks", "aria-hidden": "true" });
  const editor = element("div", { class: "editor" });
  const complaints = element("div", { class: "complaints", id: "scenario-complaints", "aria-live": "polite" });
  const matches = element("div", { class: "matches", "aria-live": "polite" });
  const labelledField = labelled("Scenario file", field);
  const root = element(
    "div",
    { class: "workbench", hidden: true },
    labelledField,
    element(
      "div",
      { class: "buttons" },
      actButton("Check", () => send("POST", "scenario/check")),
      actButton("Use file", async () => {
        if (await send("PUT", "scenario")) await used();
      }),
      actButton("Save", () => download(new Blob([field.value], { type: "application/yaml" }), fileName())),
    ),
    complaints,
    matches,
  );
  editor.append(field, marks);
  labelledField.append(editor);
  field.setAttribute("aria-describedby", complaints.id);
  field.addEventListener("input", () => checkSoon());
  field.addEventListener("scroll", () => {
    editor.style.setProperty("--top", `${field.scrollTop}px`);
    editor.style.setProperty("--left", `${field.scrollLeft}px`);
  });
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let soon;
  /** What was answered last, as a text: what is said already is not said again. */
  let said = "";
  let sent = 0;

  /** Check what is typed, once it is not being typed any more. */
  function checkSoon() {
    clearTimeout(soon);
    soon = setTimeout(() => void send("POST", "scenario/check", false).catch(() => {}), PAUSE_MS);
  }

  function fileName() {
    const name = /^scenario:\s*["']?([\w.-]+)/m.exec(field.value)?.[1] ?? "scenario";
    return `${name}.yaml`;
  }

  /**
   * Send the file; what is wrong with it is said beside it, and at its line.
   * @param {string} method
   * @param {string} path
   * @param {boolean} [isAsked] whether a person asked for it
   */
  async function send(method, path, isAsked = true) {
    clearTimeout(soon);
    const number = ++sent;
    const headers = { "Content-Type": "application/yaml" };
    const found = await ask(method, path, { body: field.value, headers, query: { file: fileName() } }).catch(
      (error) => {
        if (!(error instanceof Refusal) || error.code !== "invalid_scenario") throw error;
        return error;
      },
    );
    const isWrong = found instanceof Refusal;
    const says = isWrong ? found.message : JSON.stringify(found);
    if (number === sent && (isAsked || says !== said)) {
      const lines = isWrong ? says.split("\n") : [];
      fill(complaints, isWrong && element("ul", { role: isAsked && "alert" }, lines.map(complaint)));
      fill(marks, lines.map(mark));
      fill(matches, isWrong ? [] : describe(found));
      field.setAttribute("aria-invalid", String(isWrong));
      said = says;
    }
    return !isWrong;
  }

  /** @param {string} text such as `my.yaml:4:3: …` */
  function mark(text) {
    const [, line, reason] = /:(\d+):\d+: (.*)/s.exec(text) ?? [];
    if (!line) return null;
    const made = element("p", {}, reason);
    made.style.setProperty("--line", line);
    made.style.setProperty("--column", String(field.value.split("\n")[Number(line) - 1]?.length ?? 0));
    return made;
  }

  /** @param {string} text such as `my.yaml:4:3: …` */
  function complaint(text) {
    const line = Number(/:(\d+):\d+/.exec(text)?.[1] ?? 0);
    return element(
      "li",
      {},
      text,
      " ",
      line > 0 && actButton(`Line ${line}`, () => select(line), { class: "button-small" }),
    );
  }

  /** @param {number} line */
  function select(line) {
    const lines = field.value.split("\n");
    const start = lines.slice(0, line - 1).join("\n").length + Number(line > 1);
    field.focus();
    field.setSelectionRange(start, start + (lines[line - 1] ?? "").length);
    field.scrollTop = (line - 4) * (field.scrollHeight / lines.length);
  }

  async function begin() {
    const name = chosen();
    if (!field.value) field.value = name ? (await ask("GET", `/scenarios/${encodeURIComponent(name)}`)).text : EMPTY;
    if (waiting) field.value = withRule(field.value, waiting);
    waiting = "";
    checkSoon();
  }

  return {
    root,
    /** @param {boolean} isOpen */
    async show(isOpen) {
      root.hidden = !isOpen;
      if (!isOpen) return;
      // A rule that is made of a request begins a file of its own.
      if (waiting && !field.value) field.value = EMPTY;
      if (await act(field, begin)) field.focus();
    },
    /** Forget the text: another scenario was chosen. */
    clear() {
      for (const one of [matches, complaints, marks]) fill(one);
      field.value = said = "";
    },
  };
}

/**
 * @param {string} text
 * @param {string} rule without indentation
 */
function withRule(text, rule) {
  const [, indentation = "  "] = /^rules:[^\n]*\n(?:\s*#[^\n]*\n)*( *)- /m.exec(text) ?? [];
  const item = `${indentation}${rule.replaceAll("\n", `\n${indentation}`)}`;
  if (/^rules:/m.test(text)) return text.replace(/^rules:.*$/m, () => `rules:\n${item}`);
  return `${text.trimEnd()}\nrules:\n${item}\n`;
}

/** @param {any} answer */
function describe({ scenario, rules, warnings }) {
  const isChecked = rules.every((/** @type {any} */ rule) => rule.requests);
  return [
    element("p", { class: "soft" }, isChecked ? `✓ ${scenario} can be used.` : `✓ ${scenario} is running.`),
    warnings.length > 0 &&
      element(
        "ul",
        { class: "plain" },
        warnings.map((/** @type {string} */ text) => element("li", {}, `! ${text}`)),
      ),
    isChecked && element("ul", { class: "plain" }, rules.map(ruleMatches)),
  ];
}

/** @param {{name: string, line: number, requests: number[], nearly: {request: number, reason: string}[]}} rule */
function ruleMatches({ name, line, requests, nearly }) {
  /** By the reason, since one mistake in a rule misses many requests. @type {Record<string, number[]>} */
  const missed = {};
  for (const { request, reason } of nearly) missed[reason] = [...(missed[reason] ?? []), request];
  return element(
    "li",
    { class: "rule" },
    element("span", { class: "rule-name" }, `${name} (line ${line})`),
    element(
      "span",
      {},
      requests.length ? "recent requests that match: " : "no recent request matches",
      links(requests),
    ),
    Object.entries(missed).map(([reason, numbers]) =>
      element("span", { class: "nearly" }, "nearly: ", links(numbers), element("code", {}, reason)),
    ),
  );
}

/** @param {number[]} requests */
function links(requests) {
  return requests.flatMap((number) => [element("a", { href: `#requests/${number}` }, `#${number}`), " "]);
}
