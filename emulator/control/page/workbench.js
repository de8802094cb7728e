/** The scenario workbench: a file is edited, checked with the requests that came already, used, and saved. */

import { act, actButton, download } from "./acts.js";
import { element, fill, field as labelled, setText } from "./dom.js";
import { ask, Refusal } from "./service.js";

const EMPTY = `# yaml-language-server: $schema=scenario.schema.json
scenario: my-scenario
description: What goes wrong, and what a good client does.
rules: []
`;

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
  const complaints = element("div", { class: "complaints", "aria-live": "assertive" });
  const matches = element("div", { class: "matches", "aria-live": "polite" });
  const root = element(
    "div",
    { class: "workbench", hidden: true },
    labelled("Scenario file", field),
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

  function fileName() {
    const name = /^scenario:\s*["']?([\w.-]+)/m.exec(field.value)?.[1] ?? "scenario";
    return `${name}.yaml`;
  }

  /**
   * Send the file; what is wrong with it is said beside it.
   * @param {string} method
   * @param {string} path
   */
  async function send(method, path) {
    fill(complaints);
    fill(matches);
    try {
      const headers = { "Content-Type": "application/yaml" };
      const answer = await ask(method, path, { body: field.value, headers, query: { file: fileName() } });
      fill(matches, describe(answer));
      return true;
    } catch (error) {
      if (!(error instanceof Refusal) || error.code !== "invalid_scenario") throw error;
      fill(complaints, element("ul", { role: "alert" }, error.message.split("\n").map(complaint)));
      return false;
    }
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
      setText(matches, "");
      field.value = "";
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
function describe({ scenario, rules }) {
  const isChecked = rules.every((/** @type {any} */ rule) => rule.requests);
  return [
    element("p", { class: "soft" }, isChecked ? `✓ ${scenario} can be used.` : `✓ ${scenario} is running.`),
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
