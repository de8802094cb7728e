/** Completion of a scenario file from its published schema: keys and words at the cursor, in a listbox led by the keyboard. */

import { announce, element, fill } from "./dom.js";
import { counted } from "./words.js";

const MOST = 60;

/** @typedef {Record<string, any>} Schema */
/** @typedef {{text: string, detail: string}} Option */

/**
 * The keys that lead to the end of a YAML text (`-` stands for an item), the word there, and whether a key may be it.
 * @param {string} text
 */
export function placeAtEnd(text) {
  /** @type {{indent: number, step: string}[]} */
  let block = [];
  /** What is open in flow style. @type {{isMap: boolean, key: string}[]} */
  const flow = [];
  let word = "";
  let isKey = true;
  for (const line of text.split("\n")) {
    let rest = line;
    word = "";
    if (flow.length === 0) {
      let indent = line.search(/\S|$/);
      rest = line.slice(indent);
      // An item may be as far out as the key of its list.
      const isItem = /^-(\s|$)/.test(rest);
      const isOuter = (/** @type {{indent: number, step: string}} */ one) =>
        one.indent < indent || (isItem && one.indent === indent && one.step !== "-");
      if (rest !== "" || line === text.slice(text.lastIndexOf("\n") + 1)) block = block.filter(isOuter);
      for (const [marker] of rest.match(/^(-(\s+|$))+/)?.[0].matchAll(/-\s*/g) ?? []) {
        block.push({ indent, step: "-" });
        indent += marker.length;
      }
      rest = line.slice(indent);
      const [head, key] = /^["']?([\w.$-]+)["']?:(?:\s+|$)/.exec(rest) ?? [];
      isKey = head === undefined;
      if (head !== undefined) block.push({ indent, step: key });
      rest = rest.slice(head?.length ?? 0);
    }
    readFlow(rest);
  }

  /** @param {string} rest */
  function readFlow(rest) {
    let quote = "";
    for (const [at, letter] of [...rest].entries()) {
      const top = flow.at(-1);
      if (quote) {
        if (letter === quote) quote = "";
        else word += letter;
      } else if (`"'`.includes(letter) && !word) quote = letter;
      else if (letter === "#" && /(^|\s)$/.test(rest.slice(0, at))) return stop();
      else if ("{[".includes(letter) && (top || !word)) next({ isMap: letter === "{", key: "" });
      else if (top && "}]".includes(letter)) flow.pop();
      else if (top && letter === ",") next({ isMap: top.isMap, key: "" }, flow.pop());
      else if (top?.isMap && !top.key && letter === ":" && /\s|$/.test(rest[at + 1] ?? ""))
        next({ isMap: true, key: word.trim() }, flow.pop());
      else if (word || letter !== " ") word += letter;
    }
  }

  /** @param {{isMap: boolean, key: string}} opened @param {unknown} [_closed] */
  function next(opened, _closed) {
    flow.push(opened);
    word = "";
  }

  /** A comment has no words to complete. */
  function stop() {
    word = "#";
  }

  const top = flow.at(-1);
  const steps = flow.flatMap(({ isMap, key }) => (isMap ? key || [] : "-"));
  return { path: [...block.map((one) => one.step), ...steps], word, isKey: top ? top.isMap && !top.key : isKey };
}

/**
 * What may stand at the end of a text.
 * @param {Schema} schema
 * @param {string} text
 */
export function completionsAtEnd(schema, text) {
  const { path, word, isKey } = placeAtEnd(text);

  /** @param {Schema} node @returns {Schema[]} it and all that it refers to or may be */
  function variants(node) {
    const { $ref, anyOf = [], oneOf = [], allOf = [] } = node;
    const target = $ref ? [schema.$defs[$ref.split("/").at(-1)]] : [];
    return [node, ...[...target, ...anyOf, ...oneOf, ...allOf].flatMap(variants)];
  }

  let nodes = variants(schema);
  for (const step of path)
    nodes = nodes.flatMap((node) => {
      const pattern = Object.entries(node.patternProperties ?? {}).find(([one]) => new RegExp(one).test(step));
      const found = step === "-" ? node.items : (node.properties?.[step] ?? pattern?.[1] ?? node.additionalProperties);
      return typeof found === "object" ? variants(found) : [];
    });
  const items = nodes.flatMap((node) => (node.items ? variants(node.items) : []));
  const keys = isKey ? [...keysOf(nodes, ""), ...keysOf(items, "- ")] : [];
  const words = nodes.flatMap((node) => {
    const values = [...(node.enum ?? []), ...("const" in node ? [node.const] : []), ...(node.examples ?? [])];
    return values.map((value) => ({
      text: /^[\w.:-]+$/.test(value) ? String(value) : JSON.stringify(value),
      detail: "",
    }));
  });
  const typed = word.toLowerCase();
  const options = new Map([...keys, ...words].map((option) => [option.text, option]));
  const found = [...options.values()].filter(
    (option) => option.text !== word && option.text.toLowerCase().includes(typed),
  );
  const rank = (/** @type {Option} */ option) => Number(!option.text.toLowerCase().startsWith(typed));
  return { word, options: found.sort((one, other) => rank(one) - rank(other)).slice(0, MOST) };
}

/** @param {Schema[]} nodes @param {string} before @returns {Option[]} */
function keysOf(nodes, before) {
  return nodes.flatMap(({ properties = {} }) =>
    Object.entries(properties).map(([key, { description = "" }]) => ({
      text: `${before}${key}: `,
      detail: description,
    })),
  );
}

/**
 * Offer completions in a field: while a word is typed, and with Ctrl and Space.
 * @param {HTMLTextAreaElement} field
 * @param {Schema} schema
 * @returns {HTMLElement} the list, to be placed in what the field is placed in
 */
export function offerCompletions(field, schema) {
  const list = element("ul", {
    class: "completions",
    role: "listbox",
    id: "completions",
    "aria-label": "Completions",
    hidden: true,
  });
  /** @type {Option[]} */
  let options = [];
  let word = "";
  let active = -1;
  for (const [name, value] of [
    ["autocomplete", "list"],
    ["haspopup", "listbox"],
    ["controls", list.id],
  ])
    field.setAttribute(`aria-${name}`, value);

  /** @param {boolean} isAsked whether the first is chosen already */
  function open(isAsked) {
    const before = field.value.slice(0, field.selectionStart);
    ({ word, options } = completionsAtEnd(schema, before));
    if (!isAsked && !word) options = [];
    const lines = before.split("\n");
    list.style.setProperty("--line", String(lines.length));
    list.style.setProperty("--column", String((lines.at(-1)?.length ?? 0) - word.length));
    list.hidden = options.length === 0;
    fill(
      list,
      options.map(({ text, detail }, at) =>
        element(
          "li",
          {
            role: "option",
            id: `completion-${at}`,
            pointerdown: (/** @type {Event} */ event) => event.preventDefault(),
            click: () => take(at),
          },
          element("code", {}, text.trim()),
          element("span", { class: "faint" }, detail),
        ),
      ),
    );
    choose(isAsked ? 0 : -1);
    if (isAsked) announce(counted(options.length, "completion"));
  }

  function close() {
    list.hidden = true;
    field.removeAttribute("aria-activedescendant");
  }

  /** @param {number} at */
  function choose(at) {
    active = at;
    const chosen = list.children[at];
    for (const option of list.children) option.setAttribute("aria-selected", String(option === chosen));
    if (!chosen) return field.removeAttribute("aria-activedescendant");
    field.setAttribute("aria-activedescendant", chosen.id);
    chosen.scrollIntoView({ block: "nearest" });
  }

  /** @param {number} at */
  function take(at) {
    const { text } = options[at];
    field.setSelectionRange(field.selectionStart - word.length, field.selectionStart);
    // Unlike a change of the value, this can be undone.
    document.execCommand("insertText", false, text);
    open(false);
  }

  field.addEventListener("input", () => open(false));
  field.addEventListener("blur", close);
  field.addEventListener("click", close);
  field.addEventListener("keydown", (event) => {
    const isOpen = !list.hidden;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === " " && event.ctrlKey) open(true);
    else if (isOpen && step) choose((active + step + options.length) % options.length);
    else if (isOpen && active >= 0 && (event.key === "Enter" || event.key === "Tab")) take(active);
    else if (isOpen && event.key === "Escape") close();
    else return isOpen && /^(Arrow|Home|End|Page)/.test(event.key) && close();
    event.preventDefault();
  });
  return list;
}
