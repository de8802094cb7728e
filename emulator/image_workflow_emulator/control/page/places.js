/** Places on the page as its address names them: a region, something in it, and the filters it is seen through. */

import { element, fill } from "./dom.js";

/** @typedef {Record<string, string>} Filters */

/**
 * The address of a place.
 * @param {string} path such as `requests/12`
 * @param {Filters} [filters] those that are empty are left out
 */
export function placeOf(path, filters = {}) {
  const query = new URLSearchParams(Object.entries(filters).filter(([, value]) => value));
  return `#${path}${query.size ? `?${query}` : ""}`;
}

/**
 * What a place names.
 * @param {string} hash
 */
export function readPlace(hash) {
  const [path, query = ""] = hash.slice(1).split("?", 2);
  const [slug, ...rest] = path.split("/").map((part) => part.replace(/%2F/gi, "/"));
  return { slug, rest: rest.join("/"), filters: Object.fromEntries(new URLSearchParams(query)) };
}

/**
 * Change the place without a step in the history of the tab.
 * @param {string} place
 */
export function changePlace(place) {
  history.replaceState(history.state, "", place);
  dispatchEvent(new HashChangeEvent("hashchange"));
}

/**
 * Show filters as chips; each takes its filter away.
 * @param {Element} list
 * @param {Filters} filters
 * @param {(filters: Filters) => void} change
 */
export function showChips(list, filters, change) {
  const used = Object.entries(filters).filter(([, value]) => value);
  fill(
    list,
    used.map(([name, value]) =>
      element(
        "li",
        {},
        element(
          "button",
          {
            type: "button",
            class: "chip",
            "aria-label": `Remove the filter ${name} ${value}`,
            click: () => change({ ...filters, [name]: "" }),
          },
          `${name}: ${value}`,
          element("span", { "aria-hidden": "true" }, "✕"),
        ),
      ),
    ),
  );
}
