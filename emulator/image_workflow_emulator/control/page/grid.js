/**
 * A list of any length of which only what is seen exists: rows of one height, made as they are scrolled to. By keyboard
 * it is one stop, with the arrows going from row to row. Nothing is added at the top while somebody looks at the rows that
 * are there: what comes meanwhile is counted, and shown when it is asked for.
 */

import { html, render } from "./ui.js";

const BEYOND = 8;
const TOUCH = matchMedia("(hover: none)");

export class Grid {
  /**
   * `root` is an empty element with the role and the name of a grid. Of the options, `paint` fills a row with the cells of
   * an item, `open` shows an item, `enter` leads the keyboard to what is open, and `held` is told how many have come that
   * are not shown yet.
   */
  constructor(root, options) {
    this.root = root;
    this.options = options;
    /** newest last, shown first */
    this.items = [];
    /** with those that are not shown yet */
    this.all = [];
    /** the newest that is shown while the rows hold still */
    this.ceiling = null;
    this.isPointedAt = false;
    this.rows = new Map();
    /** the row that the keyboard is on */
    this.cursor = null;
    /** the row that is open */
    this.opened = null;
    const heads = options.columns.map((one) => html`<span class=${one.class} role="columnheader">${one.name}</span>`);
    render(
      [
        html`<div role="rowgroup"><div class="grid-head" role="row" aria-rowindex="1">${heads}</div></div>`,
        html`<div class="grid-view" role="presentation"><div class="grid-space" role="rowgroup"></div></div>`,
      ],
      root,
    );
    this.view = /** @type {HTMLElement} */ (root.lastElementChild);
    this.space = /** @type {HTMLElement} */ (this.view.firstElementChild);
    this.view.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    this.space.addEventListener("click", (event) => this.#clicked(event));
    this.space.addEventListener("keydown", (event) => this.#pressed(event));
    new ResizeObserver(() => this.schedule()).observe(this.view);
    this.isScheduled = false;
  }

  get rowHeight() {
    return parseFloat(getComputedStyle(this.root).getPropertyValue("--row-height")) || 36;
  }

  /** Paint with the next frame, however often it is asked for before. */
  schedule() {
    if (this.isScheduled) return;
    this.isScheduled = true;
    requestAnimationFrame(() => {
      this.isScheduled = false;
      this.#paint();
    });
  }

  /**
   * Whether the rows hold still: one is pointed at, open, or the list is scrolled; under a finger, once it is full.
   */
  get isStill() {
    const isFull = this.items.length * this.rowHeight > this.view.clientHeight;
    return this.isPointedAt || this.opened !== null || this.view.scrollTop > 0 || (TOUCH.matches && isFull);
  }

  /** Say whether a row is pointed at. */
  point(isPointedAt) {
    this.isPointedAt = isPointedAt;
    this.#settle();
  }

  /** Show items from the top, with all that has come meanwhile. */
  renew(items = this.all) {
    this.ceiling = null;
    this.items = [];
    this.view.scrollTop = 0;
    this.show(items);
  }

  /** Let go of what was held, where nothing holds it any more. */
  #settle() {
    if (this.ceiling !== null && !this.isStill) this.show(this.all);
  }

  #scrolled() {
    this.schedule();
    this.#settle();
  }

  /** Show other items; those that are newer than what is shown wait while the rows hold still. */
  show(all) {
    this.all = all;
    const newest = this.items.at(-1);
    if (!this.isStill) this.ceiling = null;
    else if (newest !== undefined) this.ceiling ??= this.options.key(newest);
    let items = all;
    const { ceiling } = this;
    if (ceiling !== null) {
      const newer = all.findLastIndex((item) => this.options.key(item) <= ceiling) + 1;
      if (newer > 0) items = all.slice(0, newer);
      else this.ceiling = null;
    }
    this.options.held(all.length - items.length);
    this.#replace(items);
  }

  /** Put items in the place of those that are shown, and keep what is being read where it is. */
  #replace(items) {
    const height = this.rowHeight;
    const top = this.view.scrollTop;
    if (top > 0 && items !== this.items) {
      const at = Math.floor(top / height);
      const read = this.items[this.items.length - 1 - at];
      if (read !== undefined) {
        const index = this.#indexOf(this.options.key(read), items);
        if (index >= 0) {
          this.items = items;
          this.#stretch(height);
          this.view.scrollTop = index * height + (top % height);
        }
      }
    }
    this.items = items;
    this.#paint();
  }

  /** Mark which one is open. */
  mark(key) {
    this.opened = key;
    if (key !== null) this.cursor = key;
    this.#settle();
    this.schedule();
  }

  /** Put the keyboard on the row that it was on last. */
  focus() {
    const at = this.rows.get(this.cursor ?? -1)?.row ?? this.space.querySelector("[tabindex='0']");
    /** @type {HTMLElement | null} */ (at)?.focus();
  }

  #indexOf(key, items = this.items) {
    let low = 0;
    let high = items.length - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const found = this.options.key(items[middle]);
      if (found === key) return items.length - 1 - middle;
      if (found < key) low = middle + 1;
      else high = middle - 1;
    }
    return -1;
  }

  #stretch(height) {
    this.space.style.height = `${this.items.length * height}px`;
  }

  #paint() {
    const height = this.rowHeight;
    const { items, view } = this;
    this.#stretch(height);
    this.root.setAttribute("aria-rowcount", String(items.length + 1));
    const end = items.length - 1;
    // Rows that are still there hold a list that has become shorter open beyond its end.
    const first = Math.max(0, Math.min(end, Math.floor(view.scrollTop / height) - BEYOND));
    const last = Math.min(end, Math.ceil((view.scrollTop + view.clientHeight) / height) + BEYOND);
    const cursorAt = this.cursor === null ? -1 : this.#indexOf(this.cursor);
    const stop = Math.max(cursorAt, 0);
    const wanted = [];
    for (let index = first; index <= last; index++) wanted.push(index);
    if (stop < first) wanted.unshift(stop);
    else if (stop > last && stop < items.length) wanted.push(stop);
    const kept = new Set();
    /** @type {any} */
    let before = this.space.firstElementChild;
    for (const index of wanted) {
      const item = items[items.length - 1 - index];
      const key = this.options.key(item);
      kept.add(key);
      const row = this.#row(key, item);
      // In the document as on the screen: that is the order in which they are read aloud.
      if (row === before) before = before.nextElementSibling;
      else this.space.insertBefore(row, before);
      row.style.transform = `translateY(${index * height}px)`;
      row.setAttribute("aria-rowindex", String(index + 2));
      row.setAttribute("aria-selected", String(key === this.opened));
      row.tabIndex = index === stop ? 0 : -1;
    }
    for (const [key, { row }] of this.rows) {
      if (kept.has(key)) continue;
      row.remove();
      this.rows.delete(key);
    }
  }

  #row(key, item) {
    let made = this.rows.get(key);
    if (!made) {
      made = { row: document.createElement("div"), item };
      made.row.setAttribute("role", "row");
      made.row.setAttribute("data-key", String(key));
      this.rows.set(key, made);
      this.options.paint(item, made.row);
    } else if (made.item !== item) {
      made.item = item;
      this.options.paint(item, made.row);
    }
    return made.row;
  }

  #itemOf(event) {
    const row = event.target instanceof Element ? event.target.closest("[role=row]") : null;
    return row ? this.rows.get(Number(row.getAttribute("data-key"))) : undefined;
  }

  #clicked(event) {
    const made = this.#itemOf(event);
    if (made) this.options.open(made.item);
  }

  #pressed(event) {
    const made = this.#itemOf(event);
    if (!made) return;
    const at = this.#indexOf(this.options.key(made.item));
    const step = Math.max(1, Math.floor(this.view.clientHeight / this.rowHeight) - 1);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + step, PageUp: at - step, Home: 0, End: Infinity }[
      event.key
    ];
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.options.open(made.item);
      if (event.key === "Enter") this.options.enter();
    } else if (to !== undefined) {
      event.preventDefault();
      this.#moveTo(Math.min(Math.max(to, 0), this.items.length - 1));
    }
  }

  #moveTo(index) {
    const height = this.rowHeight;
    const top = index * height;
    const item = this.items[this.items.length - 1 - index];
    this.cursor = this.options.key(item);
    if (top < this.view.scrollTop) this.view.scrollTop = top;
    const bottom = top + height - this.view.clientHeight;
    if (bottom > this.view.scrollTop) this.view.scrollTop = bottom;
    this.#paint();
    this.rows.get(this.cursor)?.row.focus({ preventScroll: true });
    // What is open goes along.
    if (this.opened !== null) this.options.open(item);
  }
}
