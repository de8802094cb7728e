/** What a person does on the page: one act at a time for each button, with an honest message when it is refused. */

import { announce, byId, element, setText } from "./dom.js";
import { Refusal } from "./service.js";

const PATIENCE_MS = 5000;

/**
 * Make a button that does something when pressed.
 * @param {string} name
 * @param {() => unknown} work
 * @param {Record<string, unknown>} [attributes]
 * @returns {HTMLButtonElement}
 */
export function actButton(name, work, attributes = {}) {
  const button = element("button", { type: "button", ...attributes }, name);
  button.addEventListener("click", () => void act(button, work));
  return button;
}

/**
 * Make a button for what cannot be undone: pressed once, it asks; pressed again within some seconds, it does it.
 * @param {string} name
 * @param {() => unknown} work
 * @param {Record<string, unknown>} [attributes]
 * @returns {HTMLButtonElement}
 */
export function askingButton(name, work, attributes = {}) {
  const button = element("button", { type: "button", ...attributes }, name);
  let isAsking = false;
  /** @param {boolean} asks */
  const ask = (asks) => {
    isAsking = asks;
    setText(button, asks ? `${name}? Click again` : name);
    button.classList.toggle("is-asking", asks);
    if (asks) announce(`${name}? Click again`);
  };
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let end;
  button.addEventListener("click", ({ detail }) => {
    clearTimeout(end);
    // The second half of a double click is no answer.
    const isAnswer = isAsking && detail < 2;
    ask(!isAnswer);
    if (isAnswer) void act(button, work);
    else end = setTimeout(() => ask(false), PATIENCE_MS);
  });
  return button;
}

/**
 * Do what a control stands for; a control that is at it already is left alone.
 * @param {HTMLElement} control
 * @param {() => unknown} work
 * @returns {Promise<boolean>} whether it was done
 */
export async function act(control, work) {
  if (control.getAttribute("aria-busy") === "true") return false;
  control.setAttribute("aria-busy", "true");
  try {
    const done = await work();
    dismissRefusal();
    if (typeof done === "string") announce(done);
    return true;
  } catch (error) {
    showRefusal(reasonOf(error), error instanceof Refusal && error.status === 0);
    return false;
  } finally {
    control.removeAttribute("aria-busy");
  }
}

/** @param {unknown} error */
function reasonOf(error) {
  if (!(error instanceof Refusal)) console.error(error);
  return error instanceof Error ? error.message : String(error);
}

/**
 * Show why something was refused, until the next act succeeds or it is dismissed.
 * @param {string} reason
 * @param {boolean} [isUnreachable] whether it holds only until the emulator is there again
 */
export function showRefusal(reason, isUnreachable = false) {
  dismissRefusal();
  const dismiss = element("button", { type: "button", class: "quiet", click: dismissRefusal }, "Dismiss");
  byId("notices").prepend(
    element(
      "div",
      { class: "notice notice-refusal", role: "alert", "data-unreachable": isUnreachable },
      element("p", {}, reason),
      dismiss,
    ),
  );
}

/** Take away what was refused only because the emulator was out of reach. */
export function forgetUnreachable() {
  const shown = byId("notices").querySelector("[data-unreachable]");
  if (shown) dismissRefusal();
}

/** Take the shown refusal away. */
export function dismissRefusal() {
  byId("notices").querySelector("[role=alert]")?.remove();
}

/**
 * Put a text on the clipboard.
 * @param {string} text
 * @param {HTMLElement} button says for a moment that it was done
 */
export async function copy(text, button) {
  if (navigator.clipboard) await navigator.clipboard.writeText(text);
  else copyFromField(text);
  announce("Copied");
  button.classList.add("is-done");
  setTimeout(() => button.classList.remove("is-done"), 1200);
}

/**
 * Copy where a browser has no clipboard for pages that came without encryption.
 * @param {string} text
 */
function copyFromField(text) {
  const field = element("textarea", { class: "visually-hidden" }, text);
  document.body.append(field);
  field.select();
  const isDone = document.execCommand("copy");
  field.remove();
  if (!isDone) throw new Error("The browser does not let the page copy");
}

/**
 * Hand a file to the person.
 * @param {Blob} blob
 * @param {string} name
 */
export function download(blob, name) {
  const url = URL.createObjectURL(blob);
  element("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
