/**
 * The journal as the page keeps it: the entries in order, without their bodies, those of them that are looked for, and
 * those that name a thing. Knows nothing of how they are shown.
 */

import { idsIn } from "./ids.js";

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
 * @property {Record<string, string> | null} response_headers
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
 * @property {string} method
 * @property {string | null} retryAfter
 * @property {string | null} made the id of the thing that the answer is
 * @property {string[]} ids the things that it names: by path, in its body, or in an answer that is no list
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
  const answer = entry.response_body;
  const isList = Array.isArray(answer?.data);
  const spoken = [
    entry.path,
    entry.query,
    entry.request_body,
    isList ? null : answer,
    entry.credential,
    entry.request_id,
  ];
  const ids = idsIn(JSON.stringify(spoken));
  const searched = [name, entry.method, entry.path, team, status, code, rule, entry.idempotency_key, ...ids];
  const isComplete = duration_ms !== null;
  const words = searched.join(" ").toLowerCase();
  return {
    method: entry.method,
    retryAfter: entry.response_headers?.["retry-after"] ?? null,
    made: typeof answer?.id === "string" ? answer.id : null,
    ids,
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
    /** The requests that name a thing, by its id. @type {Map<string, Set<number>>} */
    this.byId = new Map();
    /** The requests that were refused, failed or got no answer. @type {Set<number>} */
    this.failures = new Set();
    this.isSorted = true;
    this.newest = 0;
  }

  get size() {
    return this.bySequence.size;
  }

  /** @param {Entry} entry */
  add(entry) {
    const { sequence } = entry;
    // What has been read in full is not overtaken by an event of its arrival that comes late.
    if (entry.duration_ms === null && this.bySequence.get(sequence)?.isComplete) return;
    if (sequence > this.newest) this.newest = sequence;
    else if (!this.bySequence.has(sequence)) this.isSorted = false;
    const kept = keep(entry);
    this.bySequence.set(sequence, kept);
    for (const id of kept.ids) {
      if (!this.byId.has(id)) this.byId.set(id, new Set());
      this.byId.get(id)?.add(sequence);
    }
    if (isFailure(kept)) this.failures.add(sequence);
    this.found = null;
  }

  /** @param {number} sequence */
  #forget(sequence) {
    for (const id of this.bySequence.get(sequence)?.ids ?? []) {
      const named = this.byId.get(id);
      named?.delete(sequence);
      if (!named?.size) this.byId.delete(id);
    }
    this.failures.delete(sequence);
    this.bySequence.delete(sequence);
  }

  /**
   * The requests that name a thing, oldest first.
   * @param {string} id
   * @returns {Kept[]}
   */
  naming(id) {
    const sequences = [...(this.byId.get(id) ?? [])].sort((one, other) => one - other);
    return sequences.flatMap((sequence) => this.bySequence.get(sequence) ?? []);
  }

  clear() {
    this.bySequence.clear();
    this.byId.clear();
    this.failures.clear();
    this.newest = 0;
    this.isSorted = true;
    this.found = null;
  }

  /**
   * Forget what the emulator has forgotten; what has come since then stays.
   * @param {number} sequence
   */
  forgetUpTo(sequence) {
    for (const known of this.bySequence.keys()) if (known <= sequence) this.#forget(known);
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
    while (this.bySequence.size > KEPT) this.#forget(/** @type {number} */ (this.bySequence.keys().next().value));
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

/** @param {Kept} entry */
function isFailure({ isComplete, status }) {
  return isComplete && (status === null || status >= 400);
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
