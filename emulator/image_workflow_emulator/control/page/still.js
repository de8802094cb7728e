/** A list that holds still: while somebody points at it, what comes is counted and not shown. */

import { html } from "./ui.js";

export class StillList {
  /** @param {() => void} draw shows the list again */
  constructor(draw) {
    this.draw = draw;
    this.isPointedAt = false;
    /** The ids that are shown while it holds still. */
    this.ids = new Set();
    /** How many have come that are not shown. */
    this.held = 0;
  }

  /** Those of all items that are shown now. */
  shown(items) {
    const known = items.filter(({ id }) => this.ids.has(id));
    if (!this.isPointedAt || known.length === 0) {
      this.ids = new Set(items.map(({ id }) => id));
      this.held = 0;
      return items;
    }
    this.held = items.length - known.length;
    return known;
  }

  /** Show everything that has come. */
  renew() {
    this.ids = new Set();
    this.draw();
  }

  #point(isPointedAt) {
    this.isPointedAt = isPointedAt;
    if (!isPointedAt && this.held) this.draw();
  }

  /** The list as an element, below the button that shows what has come. */
  view(kind, content) {
    const point = (isPointedAt) => () => this.#point(isPointedAt);
    return html`
      <div class="still" onPointerEnter=${point(true)} onPointerLeave=${point(false)}>
        <button type="button" class="news primary" hidden=${this.held === 0} onClick=${() => this.renew()}>
          ${`${this.held.toLocaleString("en")} new`}
        </button>
        <div class=${kind}>${content}</div>
      </div>
    `;
  }
}
