/** Places on the page as its address names them: a region, something in it, and the filters it is seen through. */

import { html } from "./ui.js";

/**
 * The address of a place.
 * @param {string} path such as `requests/12`
 * @param {any} [filters] those that are empty are left out
 */
export function placeOf(path, filters = {}) {
  const query = new URLSearchParams(Object.entries(filters).filter(([, value]) => value));
  return `#${path}${query.size ? `?${query}` : ""}`;
}

/** A link to the requests that a search finds. */
export function foundLink(text, search) {
  return html`<a href=${placeOf("requests", { search })}>${text}</a>`;
}

/** Where a decision such as D10 is explained. */
export function decisionPlace(id) {
  return placeOf("help/reference/decisions", { section: id });
}

/** Where a problem code is explained. */
export function codePlace(code) {
  return placeOf("help/reference/problem-codes", { section: code });
}

/** What a place names. */
export function readPlace(hash) {
  const [path, query = ""] = hash.slice(1).split("?", 2);
  const [slug, ...rest] = path.split("/").map((part) => part.replace(/%2F/gi, "/"));
  return { slug, rest: rest.join("/"), filters: Object.fromEntries(new URLSearchParams(query)) };
}

/** Change the place without a step in the history of the tab. */
export function changePlace(place) {
  history.replaceState(history.state, "", place);
  dispatchEvent(new HashChangeEvent("hashchange"));
}

/** Filters as chips; each takes its filter away. */
export function chips(filters) {
  const chip = ({ text, remove }) => html`
    <li key=${text}>
      <button type="button" class="chip" aria-label=${`Remove the filter ${text}`} onClick=${remove}>
        ${text}<span aria-hidden="true">✕</span>
      </button>
    </li>
  `;
  return html`<ul class="chips" aria-label="Filters">${filters.map(chip)}</ul>`;
}
