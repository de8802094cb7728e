/** Values as block YAML, as a person would write them into a scenario. */

const PLAIN = /^[A-Za-z_][\w ./-]*$/;
/** Words that YAML takes for something else than a text. */
const RESERVED = /^(?:true|false|null|yes|no|on|off|y|n|~)$/i;

/**
 * A mapping as an item of a list, without indentation.
 * @param {Record<string, any>} value
 */
export function asItem(value) {
  return linesOf(value)
    .map((line, at) => `${at ? "  " : "- "}${line}`)
    .join("\n");
}

function linesOf(value) {
  return Object.entries(value).flatMap(([name, part]) => {
    if (!isMapping(part)) return [`${name}: ${scalar(part)}`];
    return [`${name}:`, ...linesOf(part).map((line) => `  ${line}`)];
  });
}

function isMapping(value) {
  return value !== null && typeof value === "object" && !Array.isArray(value) && Object.keys(value).length > 0;
}

/** A value in one line; JSON is YAML too. */
function scalar(value) {
  if (typeof value === "string" && PLAIN.test(value) && !RESERVED.test(value) && value.trim() === value) return value;
  return JSON.stringify(value);
}
