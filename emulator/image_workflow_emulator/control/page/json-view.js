/** JSON as it reads best: indented, with names, texts and numbers told apart. */

import { element } from "./dom.js";
import { linked } from "./ids.js";

const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const MAX_TINTED = 60_000;

/**
 * @param {unknown} value
 * @param {string} name
 */
export function json(value, name) {
  const text = JSON.stringify(value, null, 2);
  const view = element("pre", { class: "json", tabindex: 0, role: "group", "aria-label": name });
  if (text.length > MAX_TINTED) {
    view.append(text);
    return view;
  }
  let at = 0;
  for (const match of text.matchAll(TOKEN)) {
    const [whole, quotedText, colon, word] = match;
    const kind = colon ? "json-name" : quotedText ? "json-text" : word ? "json-word" : "json-number";
    const token = quotedText ?? whole;
    view.append(text.slice(at, match.index), element("span", { class: kind }, linked(token)));
    at = match.index + token.length;
  }
  view.append(text.slice(at));
  return view;
}
