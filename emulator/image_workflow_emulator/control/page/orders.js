/** What was ordered with a piece of work, in words: Product, options, and what is meant by each id. */

import { element } from "./dom.js";
import { idLink, isId } from "./ids.js";
import { sentence } from "./words.js";

/** @typedef {Pick<import("./work.js").Work, "body" | "names">} Ordered */

/**
 * Each thing that was ordered, with links in the place of ids. What was left empty is left out.
 * @param {Ordered} work
 */
export function orderOf({ body, names }) {
  const entries = Object.entries(body ?? {}).filter(
    ([, value]) => value !== null && value !== "" && value?.length !== 0,
  );
  return element(
    "dl",
    { class: "order" },
    entries.map(([key, value]) =>
      element("div", {}, element("dt", {}, termOf(key)), element("dd", { dir: "auto" }, spoken(value, names))),
    ),
  );
}

/**
 * The order in one line of text, for a picture.
 * @param {Ordered} work
 */
export function recipeOf({ body = {}, names = {} }) {
  const named = Object.values(names);
  const options = ["output_mode", "aspect_ratio", "resolution", "target_resolution", "output_format"];
  const automatic = Object.entries(body).filter(([, value]) => value?.type === "automatic");
  return [
    ...named,
    ...options.map((key) => body[key]).filter(Boolean),
    automatic.length > 0 && `automatic ${automatic.map(([key]) => sentence(key).toLowerCase()).join(", ")}`,
    body.prompt ?? body.instructions,
  ]
    .filter(Boolean)
    .join(" · ");
}

/** @param {string} key such as `product_ids` */
function termOf(key) {
  return sentence(key.replace(/_ids$/, "s").replace(/_id$/, ""));
}

/**
 * @param {any} value
 * @param {Record<string, string>} names by id
 * @returns {(Node | string)[]}
 */
function spoken(value, names) {
  if (Array.isArray(value))
    return value.flatMap((one, at) => (at ? [", ", ...spoken(one, names)] : spoken(one, names)));
  if (value !== null && typeof value === "object") {
    const parts = Object.values(value);
    return parts.flatMap((one, at) => (at ? [" ", ...spoken(one, names)] : spoken(one, names)));
  }
  return typeof value === "string" && isId(value) ? [idLink(value, names[value])] : [String(value)];
}
