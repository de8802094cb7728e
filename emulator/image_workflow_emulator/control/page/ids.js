/** Texts and JSON with links: an id of the service leads to all that is known about the thing. */

import { pageAddress } from "./service.js";
import { html } from "./ui.js";

const ID = /\b[a-z]{2,12}_[0-9a-f]{20,64}\b/g;
const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const MAX_TINTED = 60_000;

/** The ids in a text, each once. */
export function idsIn(text) {
  return [...new Set(text.match(ID))];
}

/** Whether a text is an id, and nothing else. */
export function isId(text) {
  return idsIn(text)[0] === text;
}

/** A link to what is known about a thing, with its name where that is known. */
export function idLink(id, text) {
  const href = document.getElementById("tabs") ? `#/${id}` : pageAddress(`/${id}`);
  return html`<a class="id" href=${href} title=${text ? id : null}>${text || html`<code>${id}</code>`}</a>`;
}

/** A text with what is found in it written otherwise. */
export function replaced(text, pattern, write) {
  const parts = [];
  let at = 0;
  for (const match of text.matchAll(pattern)) {
    parts.push(text.slice(at, match.index), write(match));
    at = match.index + match[0].length;
  }
  return [...parts, text.slice(at)];
}

/** A text with links in the place of the ids in it. */
export function linked(text) {
  return replaced(text ?? "", ID, ([id]) => idLink(id));
}

/** JSON as it reads best: indented, with names, texts and numbers told apart. */
export function json(value, name) {
  const text = JSON.stringify(value, null, 2);
  const tinted = ([whole, quoted, colon = "", word]) => {
    const kind = colon ? "json-name" : quoted ? "json-text" : word ? "json-word" : "json-number";
    return html`<span class=${kind}>${linked(quoted ?? whole)}</span>${colon}`;
  };
  const content = text.length > MAX_TINTED ? text : replaced(text, TOKEN, tinted);
  return html`<pre class="json" tabindex="0" role="group" aria-label=${name}>${content}</pre>`;
}
