/** Something that is read from the emulator and kept fresh while it is seen. */

import { Refusal } from "./service.js";

const SHORTEST_PAUSE_MS = 400;

let hasBegun = false;

/** Let everything be read from now on: what changes meanwhile is heard of. */
export function beginReading() {
  hasBegun = true;
}

/** Refreshed when it is seen and something that it shows has changed, at most every 400 ms. */
export class Fresh {
  /** @param {string[]} concerns the kinds of live events that change it */
  constructor(concerns, refresh) {
    this.concerns = concerns;
    this.refresh = refresh;
    this.isStale = true;
    this.isAtIt = false;
  }

  get isVisible() {
    return true;
  }

  /** @param {string} kind of a live event; after a gap it is unknown what has changed */
  hear(kind) {
    if (kind === "gap" || this.concerns.includes(kind)) this.invalidate();
  }

  /** Something that it shows has changed. */
  invalidate() {
    this.isStale = true;
    void this.catchUp();
  }

  /** Look again, if that is worth while. */
  async catchUp() {
    if (!hasBegun || this.isAtIt || !this.isStale || !this.isVisible || document.hidden) return;
    this.isAtIt = true;
    this.isStale = false;
    const pause = new Promise((resolve) => setTimeout(resolve, SHORTEST_PAUSE_MS));
    try {
      await this.refresh();
    } catch (error) {
      if (!(error instanceof Refusal)) console.warn(error);
    }
    await pause;
    this.isAtIt = false;
    void this.catchUp();
  }
}
