/**
 * The scenario workbench: a file is edited, checked as it is typed with the requests that came already, used, and saved.
 */

import { runningScenario } from "./running.js";
import { ask, Refusal, sandboxId } from "./service.js";
import { scenario } from "./store.js";
import { act, actButton, announce, byId, download, html } from "./ui.js";
import { asItem } from "./yaml.js";

const EMPTY = `# yaml-language-server: $schema=scenario.schema.json
scenario: my-scenario
description: What goes wrong, and what a good client does.
rules: []
`;

const PAUSE_MS = 500;

/** Where the browser keeps what is typed, for the tab. */
function keptAt() {
  return `image-workflow-emulator-scenario-${sandboxId()}`;
}

/** A rule that waits for the editor. */
let waiting = "";

/**
 * Make a rule that does again to the next such request what became of this one, or fails it, and open it in the editor.
 */
export function makeRule({ sequence, operation, code, request_body: body, credential }) {
  const plain = Object.entries(body ?? {}).filter(([, value]) =>
    ["string", "number", "boolean"].includes(typeof value),
  );
  const match = /** @type {Record<string, any>} */ ({ operation });
  if (credential) match.team = credential.team.name;
  if (typeof body === "object" && plain.length > 0) match.body = Object.fromEntries(plain);
  const then = { problem: code ?? "internal_error" };
  openRule(asItem({ name: `as request ${sequence}`, match, when: { nth: 1 }, then }));
}

/** Open a rule, a text without indentation, in the editor. */
export function openRule(rule) {
  waiting = rule;
  location.hash = "#scenario/edit";
  dispatchEvent(new HashChangeEvent("hashchange"));
}

/**
 * @param {() => string} chosen the name of a scenario of the library to begin with, or an empty text
 * @param {() => void} draw shows it again
 */
export function createWorkbench(chosen, draw) {
  let isOpen = false;
  /** It outlives a reload of the page. */
  let text = sessionStorage.getItem(keptAt()) ?? "";
  /** What is wrong with the file, as lines such as `my.yaml:4:3: …`. */
  let complaints = [];
  /** What the emulator says of a file that is right. */
  let found = null;
  /** Whether a person asked for the complaints. */
  let isAsked = false;
  let soon;
  let sent = 0;

  const field = () => /** @type {HTMLTextAreaElement} */ (byId("scenario-file"));

  /** Check what is typed, once it is not being typed any more. */
  function checkSoon() {
    clearTimeout(soon);
    soon = setTimeout(() => void check(false).catch(() => {}), PAUSE_MS);
  }

  function write(content) {
    text = content;
    if (content) sessionStorage.setItem(keptAt(), content);
    else sessionStorage.removeItem(keptAt());
  }

  function fileName() {
    const name = /^scenario:\s*["']?([\w.-]+)/m.exec(text)?.[1] ?? "scenario";
    return `${name}.yaml`;
  }

  /**
   * Send the file; what is wrong with it is said beside it, and at its line.
   * @param {boolean} asked whether a person asked for it
   */
  async function send(method, path, asked) {
    clearTimeout(soon);
    const number = ++sent;
    const headers = { "Content-Type": "application/yaml" };
    const query = { file: fileName() };
    const answer = await ask(method, path, { body: text, headers, query }).catch((error) => {
      if (!(error instanceof Refusal) || error.code !== "invalid_scenario") throw error;
      return error;
    });
    if (number !== sent) return null;
    const isWrong = answer instanceof Refusal;
    complaints = isWrong ? answer.message.split("\n") : [];
    found = isWrong ? null : answer;
    isAsked = asked;
    draw();
    return found;
  }

  const check = (asked = true) => send("POST", "scenario/check", asked);

  async function use() {
    const used = await send("PUT", "scenario", true);
    if (!used) return;
    found = { ...used, rules: [] };
    await scenario.renew();
    announce(`${used.scenario} is running`);
  }

  function select(line) {
    const lines = text.split("\n");
    const start = lines.slice(0, line - 1).join("\n").length + Number(line > 1);
    field().focus();
    field().setSelectionRange(start, start + (lines[line - 1] ?? "").length);
    field().scrollTop = (line - 4) * (field().scrollHeight / lines.length);
  }

  async function begin() {
    // A rule that is made of a request begins a file of its own.
    if (!text && waiting) write(EMPTY);
    if (!text) write((await chosenText()) || EMPTY);
    if (waiting) write(withRule(text, waiting));
    waiting = "";
    draw();
    checkSoon();
  }

  /** The text of the chosen scenario: as it was given if it runs, else of the library. */
  async function chosenText() {
    const name = chosen();
    const running = runningScenario();
    if (running.text && (!name || name === running.scenario)) return running.text;
    return name && (await ask("GET", `/scenarios/${encodeURIComponent(name)}`)).text;
  }

  function mark(complaint) {
    const [, line, reason] = /:(\d+):\d+: (.*)/s.exec(complaint) ?? [];
    if (!line) return null;
    const column = text.split("\n")[Number(line) - 1]?.length ?? 0;
    return html`<p style=${{ "--line": line, "--column": column }}>${reason}</p>`;
  }

  function item(complaint) {
    const line = Number(/:(\d+):\d+/.exec(complaint)?.[1] ?? 0);
    const leads = line > 0 && actButton(`Line ${line}`, () => select(line), { class: "button-small" });
    return html`<li>${complaint} ${leads}</li>`;
  }

  const typed = ({ currentTarget }) => {
    write(currentTarget.value);
    draw();
    checkSoon();
  };
  const scrolled = (/** @type {any} */ { currentTarget: { parentElement, scrollTop, scrollLeft } }) => {
    parentElement.style.setProperty("--top", `${scrollTop}px`);
    parentElement.style.setProperty("--left", `${scrollLeft}px`);
  };
  const save = () => download(new Blob([text], { type: "application/yaml" }), fileName());

  return {
    isOpen: () => isOpen,
    view: () => html`
      <div class="workbench" hidden=${!isOpen}>
        <div class="field">
          <label for="scenario-file">Scenario file</label>
          <div class="editor">
            <textarea id="scenario-file" spellcheck=${false} rows="16" wrap="off" value=${text}
              aria-describedby="scenario-complaints" aria-invalid=${complaints.length > 0}
              onInput=${typed} onScroll=${scrolled}></textarea>
            <div class="marks" aria-hidden="true">${complaints.map(mark)}</div>
          </div>
        </div>
        <div class="buttons">
          ${actButton("Check", () => check())}${actButton("Use file", use, { class: "primary" })}
          ${actButton("Save", save)}
          <a class="push" href="#help/scenarios">Format of scenario files</a>
        </div>
        <div class="complaints" id="scenario-complaints" aria-live="polite">
          ${complaints.length > 0 && html`<ul role=${isAsked ? "alert" : null}>${complaints.map(item)}</ul>`}
        </div>
        <div class="matches" aria-live="polite">${found && describe(found)}</div>
      </div>
    `,
    async show(wanted) {
      isOpen = wanted;
      draw();
      if (isOpen && (await act(field(), begin))) field().focus();
    },
    /** Forget the text: another scenario was chosen. */
    clear() {
      write("");
      complaints = [];
      found = null;
    },
  };
}

/** @param {string} rule without indentation */
function withRule(text, rule) {
  const [, indentation = "  "] = /^rules:[^\n]*\n(?:\s*#[^\n]*\n)*( *)- /m.exec(text) ?? [];
  const item = `${indentation}${rule.replaceAll("\n", `\n${indentation}`)}`;
  if (/^rules:/m.test(text)) return text.replace(/^rules:.*$/m, () => `rules:\n${item}`);
  return `${text.trimEnd()}\nrules:\n${item}\n`;
}

function describe({ scenario, rules }) {
  const isChecked = rules.some((rule) => rule.requests);
  return html`
    ${(isChecked || rules.length === 0) && html`<p class="soft">✓ ${scenario} is valid.</p>`}
    ${isChecked && html`<ul class="plain">${rules.map(ruleMatches)}</ul>`}
  `;
}

function ruleMatches({ name, line, requests }) {
  return html`
    <li class="rule" key=${line}>
      <span class="rule-name">${name} (line ${line})</span>
      <span>${requests.length ? "recent requests that match: " : "no recent request matches"}${links(requests)}</span>
    </li>
  `;
}

function links(requests) {
  return requests.map((number) => html`<a href=${`#requests/${number}`}>#${number}</a>${" "}`);
}
