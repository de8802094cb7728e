/** How numbers, times and states read. */

/** A duration in milliseconds, short. */
export function duration(milliseconds) {
  if (milliseconds === null || milliseconds === undefined) return "…";
  if (milliseconds < 9.95) return `${milliseconds.toFixed(1)} ms`;
  if (milliseconds < 999.5) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 9_950) return `${(milliseconds / 1000).toFixed(1)} s`;
  const seconds = Math.round(milliseconds / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${String(seconds % 60).padStart(2, "0")} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.round(hours / 24)} days`;
}

/** A number of bytes, short. */
export function size(bytes) {
  if (bytes < 1024) return `${bytes} bytes`;
  const kibibytes = bytes / 1024;
  if (kibibytes < 1024) return `${kibibytes < 10 ? kibibytes.toFixed(1) : Math.round(kibibytes)} KiB`;
  return `${(kibibytes / 1024).toFixed(1)} MiB`;
}

/** The time of day of a timestamp, as the service writes it (UTC). */
export function timeOfDay(timestamp) {
  return timestamp.slice(11, 19);
}

/** The part of a second that belongs to it, with its point. */
export function fraction(timestamp) {
  return timestamp.slice(19, 23);
}

export function counted(count, noun) {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

/** A word of the service as people read it: `product_photography` becomes `Product photography`. */
export function sentence(word) {
  const text = word.replace(/[._]/g, " ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A JSON Pointer in a text: no path of a request, no name of a file, and nothing within quotation marks. */
const POINTER =
  /"[^"]*"|(?<=^|(?<!\b(?:GET|POST|PUT|PATCH|DELETE)) )(?!\/(?:v\d|_emulator)\b)((?:\/[\w~-]+)+)(?=[:;.,]?(?:\s|$))/gm;
const BEGINS_A_SENTENCE = /(?:^|[:.]\s|\n)$/;

/** A complaint or an instruction of the service as people read it: fields have names in place of JSON Pointers. */
export function withoutPointers(text) {
  return text.replace(POINTER, (whole, pointer, at) => {
    if (!pointer) return whole;
    const name = fieldName(pointer.slice(1).split("/"));
    return BEGINS_A_SENTENCE.test(text.slice(0, at)) ? sentence(name) : name;
  });
}

/** The name of a field, the innermost first: `item 2 of asset ids`. */
function fieldName(steps) {
  const names = steps.map((step) => {
    if (/^\d+$/.test(step)) return `item ${Number(step) + 1}`;
    return step.replaceAll("~1", "/").replaceAll("~0", "~").replaceAll("_", " ");
  });
  return names.reverse().join(" of ");
}
