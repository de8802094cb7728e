/** What was ordered with a piece of work, in words: its name, its kind, its options, and what is meant by each id. */

import { idLink, isId } from "./ids.js";
import { html } from "./ui.js";
import { sentence } from "./words.js";

/** What people know an order by before anything else. */
const FIRST = ["name", "product_ids"];

/** The kind of an order, such as `Product photography: photoshoot`. */
export function kindOf(work) {
  const kind = sentence(work.workflow ?? work.type ?? "work");
  return work.body?.output_mode === "photoshoot" ? `${kind}: photoshoot` : kind;
}

/** What an order is called: by what it makes or is of, else by its kind. */
export function titleOf(work) {
  return work.body?.name ?? Object.values(work.names ?? {})[0] ?? kindOf(work);
}

/** Each thing that was ordered, with links in the place of ids. What was left empty is left out. */
export function orderOf({ body, names }) {
  const given = Object.entries(body ?? {}).filter(([, value]) => value !== null && value !== "" && value?.length !== 0);
  const rank = (/** @type {[string, any]} */ [key]) => (FIRST.includes(key) ? FIRST.indexOf(key) : FIRST.length);
  given.sort((one, other) => rank(one) - rank(other));
  const term = (key) => sentence(key.replace(/_ids$/, "s").replace(/_id$/, ""));
  const items = given.map(
    ([key, value]) => html`<div><dt>${term(key)}</dt><dd dir="auto">${spoken(value, names)}</dd></div>`,
  );
  return html`<dl class="order">${items}</dl>`;
}

/** The order in one line of text, for a picture. */
export function recipeOf(work) {
  const { body = {}, names = {} } = work;
  const options = ["output_mode", "aspect_ratio", "resolution", "target_resolution", "output_format"];
  const automatic = Object.keys(body).filter((key) => body[key]?.type === "automatic");
  const parts = [
    ...Object.values(names),
    ...options.map((key) => body[key]),
    automatic.length > 0 && `automatic ${automatic.map((key) => sentence(key).toLowerCase()).join(", ")}`,
    body.prompt ?? body.instructions,
  ];
  return parts.filter(Boolean).join(" · ");
}

/** @param {Record<string, string>} names by id */
function spoken(value, names) {
  if (value !== null && typeof value === "object") {
    const separator = Array.isArray(value) ? ", " : " ";
    return Object.values(value).flatMap((one, at) => [at ? separator : "", ...spoken(one, names)]);
  }
  return typeof value === "string" && isId(value) ? [idLink(value, names[value])] : [String(value)];
}
