/**
 * Answers of the emulator that several parts of the page show. Each is read once for all of them, and again only after
 * something has changed it.
 */

import { ask, shownSandbox } from "./service.js";

const LIMIT = 500;

/** An answer that is read when somebody asks for it, and kept until it may have changed. */
class Shared {
  /**
   * @param {() => Promise<any>} read asks the emulator
   * @param {string[]} changedBy the kinds of live events after which it is read again
   */
  constructor(read, changedBy) {
    this.read = read;
    this.changedBy = changedBy;
    /** The answer as it is known; null before it was read. @type {any} */
    this.last = null;
    this.isStale = true;
    /** Counts what was asked for. */
    this.number = 0;
    /** The answer that was asked for last. @type {Promise<any>} */
    this.reading = Promise.resolve(null);
    this.watchers = [];
  }

  /** @param {(value: any) => void} watcher is called with each answer, and with null when it is forgotten */
  watch(watcher) {
    this.watchers.push(watcher);
    if (this.last !== null) watcher(this.last);
  }

  /** The answer, read again if it may have changed. */
  get() {
    if (this.isStale) {
      this.isStale = false;
      this.reading = this.#read();
    }
    return this.reading;
  }

  /** Read it again, whatever is known. */
  renew() {
    this.isStale = true;
    return this.get();
  }

  async #read() {
    const number = ++this.number;
    try {
      const value = await this.read();
      // What was asked for later is newer.
      if (number === this.number) this.#show(value);
      return value;
    } catch (error) {
      this.isStale = true;
      throw error;
    }
  }

  /** Take what something else was answered. */
  keep(value) {
    this.number += 1;
    this.isStale = false;
    this.reading = Promise.resolve(value);
    this.#show(value);
  }

  forget() {
    this.number += 1;
    this.isStale = true;
    this.#show(null);
  }

  #show(value) {
    this.last = value;
    for (const watcher of this.watchers) watcher(value);
  }
}

async function listed(path, query = {}) {
  return (await ask("GET", path, { query })).data;
}

export const clock = new Shared(() => ask("GET", "clock"), ["clock", "work", "write", "scenario", "reset"]);
export const scenario = new Shared(() => ask("GET", "scenario"), ["scenario", "clock", "reset"]);
export const teams = new Shared(() => listed("teams"), ["work", "reset"]);
export const admission = new Shared(() => ask("GET", "admission"), ["scenario", "reset"]);
export const readings = new Shared(() => listed("readings"), ["reset"]);
export const works = new Shared(() => listed("work", { limit: LIMIT }), ["work", "reset"]);
export const assets = new Shared(() => listed("assets", { limit: LIMIT }), ["work", "write", "reset"]);
/** The sandbox with the variables for its clients. */
export const sandbox = new Shared(shownSandbox, ["team", "reset"]);
/** The scenarios of the library. */
export const library = new Shared(() => listed("/scenarios"), []);

/** The contract of the service. It is no part of the sandbox, and does not change. */
export const contract = new Shared(() => ask("GET", "/contract.json"), []);

/** The operations of the contract, by their ids. */
export async function operations() {
  const { paths } = await contract.get();
  const all = Object.values(paths).flatMap((path) => Object.values(/** @type {any} */ (path)));
  return new Map(all.filter((one) => one.operationId).map((one) => [one.operationId, one]));
}

const ALL = [clock, scenario, teams, admission, readings, works, assets, sandbox, library];

/** Note what a live event has changed. */
export function noteChange(kind, data) {
  for (const one of ALL) if (one.changedBy.includes(kind)) one.isStale = true;
  if (kind === "team") noteTeam(data);
  // Only what runs counts requests.
  if (kind === "request" && isScenarioRunning()) scenario.isStale = true;
}

/** Nothing that was read is known to be so still. */
export function noteGap() {
  for (const one of ALL) one.isStale = true;
}

/** Another source answers from now on. */
export function forgetAnswers() {
  for (const one of ALL) one.forget();
}

/** An event of a Team has all of it. */
function noteTeam(team) {
  const isKnown = !teams.isStale && teams.last?.some(({ id }) => id === team.id);
  if (isKnown) teams.keep(teams.last.map((one) => (one.id === team.id ? team : one)));
  else teams.isStale = true;
}

function isScenarioRunning() {
  const { last } = scenario;
  return last !== null && (last.scenario !== null || last.team_scenarios.length > 0);
}
