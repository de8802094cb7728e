/**
 * What a file holds in the place of the emulator: answers of the control plane, by their paths. So every region shows a
 * session as it shows a sandbox, and nothing can be changed.
 */

import { Refusal } from "./service.js";
import { counted } from "./words.js";

const FORMAT = "image-workflow-emulator session";
/** The regions that show answers, by the paths of these. */
const REGIONS = {
  requests: "Requests",
  work: "Work",
  assets: "Gallery",
  teams: "Teams",
  clock: "Clock",
  scenario: "Scenario",
  conduct: "Conduct",
  coverage: "Coverage",
};
/** Lists that are empty where a file does not hold them. */
const LISTS = ["work", "assets", "teams", "readings", "scenarios"];
const EXPLANATION = {
  summary: "This file has no explanations.",
  remedy: null,
  checks: [],
  rules: [],
  effects: [],
};

/** Read a session, a journal, or a coverage; null for anything else. */
export function readSession(content) {
  const isSession = content?.format === FORMAT && content.version === 1;
  const { requests: more = 0, pictures: others = 0 } = (isSession && content.left_out) || {};
  const entries = Array.isArray(content) ? content : (content?.data ?? content?.requests);
  /** @type {any} */
  let answers = {};
  if (isSession) answers = { ...content.answers };
  else if (content?.operations && typeof content.percent === "number") answers = { coverage: content };
  else answers = { requests: { data: entries } };
  if (answers.requests && !isJournal(answers.requests.data)) return null;
  if (answers.requests) answers.requests = numbered(answers.requests.data);
  if (answers.clock) answers.clock = { events: [], ...answers.clock, mode: "saved" };
  if (answers.teams) answers.admission ??= { state: "open", retry_after: null };
  // A file without the rules of what ran cannot show it.
  if (!Array.isArray(answers.scenario?.rules)) delete answers.scenario;
  const left = [more && counted(more, "earlier request"), others && counted(others, "picture")].filter(Boolean);
  return {
    answers,
    pictures: content.pictures ?? {},
    regions: Object.entries(REGIONS).flatMap(([path, region]) => (answers[path] ? region : [])),
    note: left.length ? `without ${left.join(" and ")}` : "",
  };
}

function isJournal(entries) {
  return Array.isArray(entries) && entries.every((one) => one?.method && one.path);
}

/** A journal as it is answered. One of several sandboxes counts anew, in the order of arrival. */
function numbered(entries) {
  const isUnique = new Set(entries.map((one) => one.sequence)).size === entries.length;
  const data = isUnique ? entries : entries.map((one, at) => ({ ...one, sequence: at + 1 }));
  return { data, last_sequence: Math.max(0, ...data.map((one) => one.sequence)) };
}

/** What answers in the place of the emulator, for a file of this name. */
export function answersOf(name, { answers, pictures }) {
  return (method, path, /** @type {any} */ query = {}) => {
    if (method !== "GET") throw new Refusal(405, "read_only", `${name} is a file: it can be read, not changed`);
    const steps = path.replace(/^\//, "").split("/").map(decodeURIComponent);
    const [first, second] = steps;
    const found = first === "requests" && !second ? page(query) : (answers[steps.join("/")] ?? part(first, second));
    if (found instanceof Blob) return new Response(found);
    if (found ?? LISTS.includes(first)) return new Response(JSON.stringify(found ?? { data: [] }));
    throw new Refusal(404, "not_found", `${name} does not hold this`);
  };

  function page({ before = Infinity }) {
    const { requests } = answers;
    return requests && { ...requests, data: requests.data.filter(({ sequence }) => sequence < before) };
  }

  function part(collection, id) {
    if (!id) return undefined;
    if (collection === "sandboxes") return { env: {} };
    if (collection === "pictures") return pictures[id] && blobOf(pictures[id]);
    const entry = answers.requests?.data.find((one) => [String(one.sequence), one.request_id].includes(id));
    return entry && { explanation: EXPLANATION, ...entry };
  }
}

/** @param {string} url a data URL in base64 */
function blobOf(url) {
  const [head, data] = url.split(",");
  const type = /^data:(image\/[a-z]+);base64$/.exec(head)?.[1] ?? "";
  return new Blob([Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0))], { type });
}
