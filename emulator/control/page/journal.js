/**
 * The journal as the page keeps it: the entries in order, without their bodies, and those of them that are looked for.
 * Knows nothing of how they are shown.
 */

const KEPT = 10_000;

/**
 * @typedef {object} Entry
 * @property {number} sequence
 * @property {string} at
 * @property {string} method
 * @property {string} path
 * @property {string} query
 * @property {string | null} operation
 * @property {{id: string, name: string, key: string, team: {id: string, name: string}} | null} credential
 * @property {string | null} user_agent
 * @property {string | null} idempotency_key
 * @property {number | null} status
 * @property {string | null} code
 * @property {string} request_id
 * @property {boolean} replayed
 * @property {{name: string, file: string | null, line: number | null} | null} rule
 * @property {number | null} duration_ms
 * @property {any} request_body
 * @property {any} response_body
 * @property {string | null} note
 *
 * @typedef {object} Kept what is kept of an entry
 * @property {number} sequence
 * @property {string} at
 * @property {string} name its operation, or method and path
 * @property {boolean} isOperation
 * @property {string} team
 * @property {number | null} status
 * @property {string | null} code
 * @property {boolean} replayed
 * @property {boolean} isComplete
 * @property {string | null} rule
 * @property {number | null} duration_ms
 * @property {string} words all that a search looks at, in small letters
 *
 * @typedef {{status: string, operation: string, search: string}} Filter
 */

/** @param {Entry} entry @returns {Kept} */
function keep(entry) {
  const { sequence, at, status, code, replayed, duration_ms } = entry;
  const name = entry.operation ?? `${entry.method} ${entry.path}`;
  const team = entry.credential?.team.name ?? "";
  const rule = entry.rule?.name ?? null;
  const searched = [name, entry.method, entry.path, team, status, code, rule, entry.request_id, entry.idempotency_key];
  const isComplete = duration_ms !== null;
  const words = searched.join(" ").toLowerCase();
  return {
    sequence,
    at,
    name,
    isOperation: entry.operation !== null,
    team,
    status,
    code,
    replayed,
    isComplete,
    rule,
    duration_ms,
    words,
  };
}

export class Journal {
  constructor() {
    /** @type {Map<number, Kept>} */
    this.bySequence = new Map();
    /** @type {Filter} */
    this.filter = { status: "", operation: "", search: "" };
    /** @type {Kept[] | null} */
    this.found = null;
    /** The newest admitted work, by its id, and the request that made it. @type {Map<string, number>} */
    this.makers = new Map();
    this.isSorted = true;
    this.newest = 0;
  }

  get size() {
    return this.bySequence.size;
  }

  /** @param {Entry} entry */
  add(entry) {
    if (entry.sequence > this.newest) this.newest = entry.sequence;
    else if (!this.bySequence.has(entry.sequence)) this.isSorted = false;
    this.bySequence.set(entry.sequence, keep(entry));
    if (entry.status === 202 && !entry.replayed && entry.response_body?.id) {
      this.makers.set(entry.response_body.id, entry.sequence);
    }
    this.found = null;
  }

  clear() {
    this.bySequence.clear();
    this.makers.clear();
    this.newest = 0;
    this.isSorted = true;
    this.found = null;
  }

  /**
   * Forget what the emulator has forgotten; what has come since then stays.
   * @param {number} sequence
   */
  forgetUpTo(sequence) {
    for (const known of this.bySequence.keys()) if (known <= sequence) this.bySequence.delete(known);
    this.found = null;
  }

  /** @param {Filter} filter */
  lookFor(filter) {
    this.filter = filter;
    this.found = null;
  }

  /** The entries that are looked for, oldest first. */
  entries() {
    if (this.found) return this.found;
    if (!this.isSorted) {
      this.bySequence = new Map([...this.bySequence].sort(([one], [other]) => one - other));
      this.isSorted = true;
    }
    while (this.bySequence.size > KEPT)
      this.bySequence.delete(/** @type {number} */ (this.bySequence.keys().next().value));
    const all = [...this.bySequence.values()];
    const { status, operation, search } = this.filter;
    const words = search.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = operation.toLowerCase();
    const isAny = !status && !operation && !words.length;
    this.found = isAny
      ? all
      : all.filter(
          (entry) =>
            isStatus(entry, status) &&
            entry.name.toLowerCase().includes(wanted) &&
            words.every((word) => entry.words.includes(word)),
        );
    return this.found;
  }
}

/**
 * Whether a text is a status as a person writes it, or the beginning of one.
 * @param {string} text
 */
export function isStatusWord(text) {
  return /^\s*([1-5]\d{0,2}x*|n|no|non|none|)\s*$/i.test(text);
}

/**
 * Whether an entry has a status as a person writes it: `402`, `4xx`, `4`, `none`.
 * @param {Kept} entry
 * @param {string} wanted
 */
function isStatus(entry, wanted) {
  const pattern = wanted.trim().toLowerCase().replace(/x+$/, "");
  if (!pattern) return true;
  return entry.status === null ? "none".startsWith(pattern) : String(entry.status).startsWith(pattern);
}

/**
 * How a request ended, in a word and a sign, so that no colour has to say it alone.
 * @param {{status: number | null, replayed: boolean, isComplete: boolean}} entry
 * @returns {{kind: "good" | "again" | "refused" | "failed" | "lost" | "waiting", sign: string, word: string}}
 */
export function ending({ status, replayed, isComplete }) {
  if (!isComplete) return { kind: "waiting", sign: "…", word: "in flight" };
  if (status === null) return { kind: "lost", sign: "⌁", word: "no answer" };
  if (status >= 500) return { kind: "failed", sign: "✕", word: "failed" };
  if (status >= 400) return { kind: "refused", sign: "!", word: "refused" };
  return replayed ? { kind: "again", sign: "↻", word: "replayed" } : { kind: "good", sign: "✓", word: "answered" };
}
