/** Elements made and changed in few words. Never reads a text as HTML: what a client sent stays a text. */

/** @typedef {Node | string | number | null | undefined | false} Child */
/** @typedef {Record<string, unknown>} Attributes */

/**
 * Make an element. An attribute that is a function listens to the event of that name, `class` and all others are set as
 * they are, true means present, and null, undefined or false means absent.
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {Attributes} [attributes]
 * @param {...(Child | Child[])} children
 * @returns {HTMLElementTagNameMap[Name]}
 */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(key, /** @type {EventListener} */ (value));
    else if (value === true) made.setAttribute(key, "");
    else if (value !== null && value !== undefined && value !== false) made.setAttribute(key, String(value));
  }
  fill(made, ...children);
  return made;
}

/**
 * Put children in the place of those that an element has.
 * @param {Element} parent
 * @param {...(Child | Child[])} children
 */
export function fill(parent, ...children) {
  const nodes = children.flat().filter((child) => child !== null && child !== undefined && child !== false);
  parent.replaceChildren(...nodes.map((child) => (child instanceof Node ? child : String(child))));
}

/**
 * Set a text only where it differs: what does not change is not painted or read aloud again.
 * @param {Element} target
 * @param {string | number} text
 */
export function setText(target, text) {
  if (target.textContent !== String(text)) target.textContent = String(text);
}

/**
 * Make the children of an element follow a list: kept by key, made once, updated in place, in the list's order. So a
 * field that is being edited, a focus or a picture that is loaded survives an update.
 * @template Item
 * @template {Element} Made
 * @param {Element} parent
 * @param {Item[]} items
 * @param {(item: Item) => string} key
 * @param {(item: Item) => Made} make
 * @param {(made: Made, item: Item) => void} [update]
 */
export function follow(parent, items, key, make, update = () => {}) {
  const known = new Map([...parent.children].map((child) => [child.getAttribute("data-key"), child]));
  /** @type {Element | null} */
  let before = parent.firstElementChild;
  for (const item of items) {
    const name = key(item);
    let child = /** @type {Made | undefined} */ (known.get(name));
    known.delete(name);
    if (!child) {
      child = make(item);
      child.setAttribute("data-key", name);
    }
    update(child, item);
    if (child === before) before = before.nextElementSibling;
    else parent.insertBefore(child, before);
  }
  for (const left of known.values()) left.remove();
}

/**
 * A control below its label.
 * @param {string} label
 * @param {HTMLElement} control with an id
 * @param {string} [kind] a class beside `field`
 */
export function field(label, control, kind = "") {
  return element("div", { class: `field ${kind}` }, element("label", { for: control.id }, label), control);
}

/**
 * A part of a description, with its heading.
 * @param {string} title
 * @param {Child | Child[]} content
 * @param {"h3" | "h4"} [level]
 */
export function part(title, content, level = "h4") {
  return element("div", { class: "details-section" }, element(level, {}, title), content);
}

/**
 * The head of a table.
 * @param {string[]} titles
 * @param {Attributes} [attributes]
 */
export function tableHead(titles, attributes = {}) {
  const cells = titles.map((title) => element("th", { scope: "col" }, title));
  return element("thead", attributes, element("tr", {}, cells));
}

/**
 * How something ended: a sign and a word, so that no colour says it alone.
 * @param {string} kind
 * @param {string} sign
 * @param {...Child} text
 */
export function badge(kind, sign, ...text) {
  const shown = element("span", { class: "badge-sign", "aria-hidden": "true" }, sign);
  return element("span", { class: `badge badge-${kind}` }, shown, ...text);
}

/**
 * Find what a document is known to have.
 * @param {string} id
 * @returns {HTMLElement}
 */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`The page has no element #${id}`);
  return found;
}

/**
 * Tell a screen reader something that is seen anyway.
 * @param {string} text
 */
export function announce(text) {
  const region = byId("announcements");
  region.textContent = "";
  // The same words twice are two announcements.
  requestAnimationFrame(() => setText(region, text));
}
