/** Ids of the service in texts: found, and made into links to all that is known about the thing. */

import { element } from "./dom.js";
import { pageAddress } from "./service.js";

const ID = /\b[a-z]{2,12}_[0-9a-f]{20,64}\b/g;

/**
 * The ids in a text, each once.
 * @param {string} text
 */
export function idsIn(text) {
  return [...new Set(text.match(ID))];
}

/**
 * Whether a text is an id, and nothing else.
 * @param {string} text
 */
export function isId(text) {
  return idsIn(text)[0] === text;
}

/**
 * A link to what is known about a thing.
 * @param {string} id
 * @param {string} [text] its name, where that is known
 */
export function idLink(id, text) {
  const isOnPage = document.getElementById("tabs") !== null;
  const attributes = { class: "id", href: isOnPage ? `#/${id}` : pageAddress(`/${id}`), title: text ? id : null };
  return element("a", attributes, text ? text : element("code", {}, id));
}

/**
 * A text with links in the place of the ids in it.
 * @param {string} text
 */
export function linked(text) {
  /** @type {(Node | string)[]} */
  const parts = [];
  let at = 0;
  for (const match of text.matchAll(ID)) {
    parts.push(text.slice(at, match.index), idLink(match[0]));
    at = match.index + match[0].length;
  }
  return [...parts, text.slice(at)];
}
