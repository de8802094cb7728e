/** What the whole page is written with: templates (Preact and htm), shared elements, and acts that may be refused. */

import { html, render, useEffect, useRef, useState } from "./preact.js";
import { Refusal } from "./service.js";

export { html, render, useEffect, useRef, useState };

const PATIENCE_MS = 5000;

/** Find what a document is known to have. */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`The page has no element #${id}`);
  return found;
}

/** Set a text only where it differs: what does not change is not painted or read aloud again. */
export function setText(target, text) {
  if (target.textContent !== String(text)) target.textContent = String(text);
}

/** Tell a screen reader something that is seen anyway. */
export function announce(text) {
  const region = byId("announcements");
  region.textContent = "";
  // The same words twice are two announcements.
  requestAnimationFrame(() => setText(region, text));
}

// Elements -----------------------------------------------------------------------------------------------------------

/**
 * A control below its label.
 * @param {string} id of the control
 * @param {string} [kind] a class beside `field`
 */
export function field(label, id, control, kind = "") {
  return html`<div class=${`field ${kind}`}><label for=${id}>${label}</label>${control}</div>`;
}

/** @param {(string | [string, string])[]} options values, or pairs of value and text */
export function options(options) {
  return options.map((one) => {
    const [value, text] = [one].flat();
    return html`<option key=${value} value=${value}>${text ?? value}</option>`;
  });
}

/** A part of a description, with its heading. */
export function part(title, content) {
  return html`<div key=${title} class="details-section"><h3>${title}</h3>${content}</div>`;
}

/** The head of a table. */
export function tableHead(titles, kind = "") {
  return html`<thead class=${kind}><tr>${titles.map((title) => html`<th scope="col">${title}</th>`)}</tr></thead>`;
}

/** How something ended: a sign and a word, so that no colour says it alone. */
export function badge(kind, sign, ...text) {
  return html`
    <span class=${`badge badge-${kind}`}><span class="badge-sign" aria-hidden="true">${sign}</span>${text}</span>
  `;
}

/** What a region says while it has nothing to show. */
export function empty(title, ...content) {
  return html`<div class="empty"><p class="empty-title">${title}</p>${content.map((one) => html`<p>${one}</p>`)}</div>`;
}

/** A remedy, in a text or with links. */
export function remedy(text) {
  return html`<div class="callout"><p class="callout-title">Remedy</p><p>${text}</p></div>`;
}

/** The head of a region. */
export function head(title, ...beside) {
  return html`<div class="region-head"><h2>${title}</h2>${beside}</div>`;
}

// Acts: one at a time for each button, with an honest message when it is refused -----------------------------------------

/** A button that does something when pressed. */
export function actButton(name, work, attributes = {}) {
  const press = ({ currentTarget: button }) => void act(button, () => work(button));
  return html`<button type="button" key=${name} ...${attributes} onClick=${press}>${name}</button>`;
}

/** A button for what cannot be undone: pressed once, it asks; pressed again within some seconds, it does it. */
export function askingButton(name, work, attributes = {}) {
  return html`<${Asking} key=${name} name=${name} work=${work} attributes=${attributes} />`;
}

function Asking({ name, work, attributes }) {
  const [isAsking, ask] = useState(false);
  useEffect(() => {
    if (!isAsking) return undefined;
    announce(`${name}? Click again`);
    const end = setTimeout(() => ask(false), PATIENCE_MS);
    return () => clearTimeout(end);
  }, [isAsking]);
  const press = ({ currentTarget: button, detail }) => {
    // The second half of a double click is no answer.
    const isAnswer = isAsking && detail < 2;
    ask(!isAnswer);
    if (isAnswer) void act(button, work);
  };
  const kind = `${attributes.class ?? ""} ${isAsking ? "is-asking" : ""}`;
  const text = isAsking ? `${name}? Click again` : name;
  return html`<button type="button" ...${attributes} class=${kind} onClick=${press}>${text}</button>`;
}

/**
 * Do what a control stands for; a control that is at it already is left alone.
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
    if (!(error instanceof Refusal)) console.error(error);
    showRefusal(error instanceof Error ? error.message : String(error), error instanceof Refusal && error.status === 0);
    return false;
  } finally {
    control.removeAttribute("aria-busy");
  }
}

/**
 * Show why something was refused, until the next act succeeds, another tab is chosen, or it is dismissed.
 * @param {boolean} isUnreachable whether it holds only until the emulator is there again
 */
function showRefusal(reason, isUnreachable) {
  showNotice(reason, "notice-refusal", isUnreachable);
}

/** Tell a person what has happened, until it is dismissed or another tab is chosen. */
export function notify(text) {
  showNotice(text, "", false);
}

function showNotice(text, kind, isUnreachable) {
  dismissRefusal();
  const notice = html`
    <div class=${`notice ${kind}`} role="alert" data-unreachable=${isUnreachable || null}>
      <p>${text}</p>
      <button type="button" class="quiet" onClick=${() => dismissRefusal()}>Dismiss</button>
    </div>
  `;
  render(notice, byId("notices"));
}

/**
 * Take the shown refusal away.
 * @param {string} [which] a selector
 */
export function dismissRefusal(which = "[role=alert]") {
  if (byId("notices").querySelector(which)) render(null, byId("notices"));
}

/** Put a text on the clipboard; the button says for a moment that it was done. */
export async function copy(text, button) {
  if (navigator.clipboard) await navigator.clipboard.writeText(text);
  else copyFromField(text);
  announce("Copied");
  button.classList.add("is-done");
  setTimeout(() => button.classList.remove("is-done"), 1200);
}

/** Copy where a browser has no clipboard for pages that came without encryption. */
function copyFromField(text) {
  const field = Object.assign(document.createElement("textarea"), { className: "visually-hidden", value: text });
  document.body.append(field);
  field.select();
  const isDone = document.execCommand("copy");
  field.remove();
  if (!isDone) throw new Error("The browser does not let the page copy");
}

/** Hand a file to the person. */
export function download(blob, name) {
  const url = URL.createObjectURL(blob);
  Object.assign(document.createElement("a"), { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
