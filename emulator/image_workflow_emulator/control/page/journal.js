/**
 * The journal as the page keeps it: the entries in order, without their bodies, those of them that are looked for, and
 * those that name a thing. Knows nothing of how they are shown.
 */

import { idsIn } from "./ids.js";

const KEPT = 10_000;
/** How much of each body is searched. */
const MAX_SEARCHED = 2_000;

/** What a search may name before a colon, and what an entry has there. */
const FIELDS = {
  status: (entry) => String(entry.status ?? "none"),
  op: (entry) => entry.name,
  team: (entry) => entry.team,
  rule: (entry) => entry.rule ?? "",
  code: (entry) => entry.code ?? "",
  method: (entry) => entry.method,
};
/** The order in which a person is told of them. */
const FIELD_NAMES = "status, op, team, code, rule, method";
const TERM = /(-)?(?:(\w+):)?("[^"]*"?|[^\s"]+)/g;

/**
 * The terms of a search such as `status:4xx op:getTeam team:Demo rule:"a name" -word`. What begins with `-` is left out.
 */
export function termsOf(search) {
  return [...search.matchAll(TERM)].map(([text, minus = "", field = "", value]) => ({
    text,
    field,
    isExcluded: minus !== "",
    value: value.replaceAll('"', "").toLowerCase(),
  }));
}

/** What is wrong with a search; empty if nothing is. */
export function mistakeIn(terms) {
  const unknown = terms.find(({ field }) => field && !(field in FIELDS));
  if (unknown) return `no term ${unknown.field}: ${FIELD_NAMES}`;
  const wrong = terms.find((term) => term.field === "status" && !/^([1-5]\d{0,2}x*|n|no|non|none)$/.test(term.value));
  return wrong ? `${wrong.text}: expected a status such as 402, a class such as 4xx, or none.` : "";
}

function fits(entry, term) {
  return term.isExcluded !== matches(entry, term);
}

function matches(entry, { field, value }) {
  if (!field) return entry.words.includes(value);
  if (!(field in FIELDS)) return false;
  const text = FIELDS[field](entry).toLowerCase();
  return field === "status" ? text.startsWith(value.replace(/x+$/, "")) : text.includes(value);
}

/** The text of a body, as far as it is searched. */
function wordsOf(body) {
  if (body === null || body === undefined) return "";
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return text.slice(0, MAX_SEARCHED);
}

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
  const searched = [name, entry.method, entry.path, entry.query, team, status, code, rule, entry.idempotency_key];
  searched.push(wordsOf(entry.request_body), wordsOf(answer), ...ids);
  const isComplete = duration_ms !== null;
  const words = searched.join(" ").toLowerCase();
  return {
    method: entry.method,
    retryAfter: entry.response_headers?.["retry-after"] ?? null,
    made: typeof answer?.id === "string" ? answer.id : null,
    ids,
    sequence,
    at,
    arrivedAt: entry.arrived_at,
    name,
    isOperation: entry.operation !== null,
    team,
    status,
    code,
    replayed,
    isLost: entry.lost ?? false,
    isComplete,
    rule,
    duration_ms,
    words,
  };
}

export class Journal {
  constructor() {
    this.bySequence = new Map();
    this.terms = [];
    this.found = null;
    /** The requests that name a thing, by its id. */
    this.byId = new Map();
    /** The requests that were refused, failed or got no answer. */
    this.failures = new Set();
    this.isSorted = true;
    this.newest = 0;
  }

  get size() {
    return this.bySequence.size;
  }

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

  /** Whether entries belong to another run of the emulator, in which the numbers began again. */
  isOfAnother(entries) {
    return entries.some(({ sequence, arrived_at: at }) => {
      const known = this.bySequence.get(sequence);
      return known !== undefined && known.arrivedAt !== at;
    });
  }

  #forget(sequence) {
    for (const id of this.bySequence.get(sequence)?.ids ?? []) {
      const named = this.byId.get(id);
      named?.delete(sequence);
      if (!named?.size) this.byId.delete(id);
    }
    this.failures.delete(sequence);
    this.bySequence.delete(sequence);
  }

  /** The requests that name a thing, oldest first. */
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

  /** Forget what the emulator has forgotten; what has come since then stays. */
  forgetUpTo(sequence) {
    for (const known of this.bySequence.keys()) if (known <= sequence) this.#forget(known);
    this.found = null;
  }

  lookFor(terms) {
    this.terms = terms;
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
    const { terms } = this;
    this.found = terms.length ? all.filter((entry) => terms.every((term) => fits(entry, term))) : all;
    return this.found;
  }
}

/** The journal that the page keeps: several regions look into it. */
export const journal = new Journal();

/** Resolves once the journal was read for the first time. */
export const journalWasRead = new Promise((resolve) => {
  document.addEventListener("journal", resolve, { once: true });
});

function isFailure({ isComplete, status }) {
  return isComplete && (status === null || status >= 400);
}

/** How a request ended, in a word and a sign, so that no colour has to say it alone. */
export function ending({ status, replayed, isComplete, isLost = false }) {
  if (!isComplete) return { kind: "waiting", sign: "…", word: "in flight" };
  if (isLost) return { kind: "lost", sign: "⌁", word: "lost" };
  if (status === null) return { kind: "lost", sign: "⌁", word: "no answer" };
  if (status >= 500) return { kind: "failed", sign: "✕", word: "failed" };
  if (status >= 400) return { kind: "refused", sign: "!", word: "refused" };
  return replayed ? { kind: "again", sign: "↻", word: "replayed" } : { kind: "good", sign: "✓", word: "answered" };
}
