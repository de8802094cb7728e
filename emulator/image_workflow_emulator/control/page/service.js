/**
 * Requests to the control plane: addresses, the control token, the sandbox, refusals. All else on the page asks here.
 *
 * Addresses are relative to where this file was loaded from, so the page works behind any public address. The token is
 * sent as a header, never in an address, and kept for this tab only.
 */

import { withoutPointers } from "./words.js";

/** Where the control plane lies, with a slash at its end. */
export const ROOT = new URL("..", import.meta.url);

const TOKEN_NAME = "image-workflow-emulator-control-token";

/** What the emulator refused, in its own words; status 0 where it could not be reached. */
export class Refusal extends Error {
  constructor(status, code, detail) {
    super(detail);
    this.status = status;
    this.code = code;
  }
}

/** The sandbox that the page shows. */
export function sandboxId() {
  return new URLSearchParams(location.search).get("sandbox") || "default";
}

/**
 * The address of something of the sandbox that the page shows, or, beginning with `/`, of the process.
 * @param {string} path such as `clock`, or `/health`
 */
export function address(path, query = {}) {
  const sandbox = sandboxId() === "default" ? "" : `sandboxes/${encodeURIComponent(sandboxId())}/`;
  const url = new URL(path.startsWith("/") ? path.slice(1) : sandbox + path, ROOT);
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, String(value));
  return url;
}

/**
 * The address of the reference, as it leads back to the sandbox that the page shows.
 * @param {any} [operation] of the contract
 */
export function referenceAddress(operation) {
  if (!operation) return documentAddress("reference", "");
  const { tags, operationId } = operation;
  return documentAddress("reference", `/${encodeURIComponent(tags[0])}/${operationId}`);
}

/**
 * The address of the page, from the reference, with what it is to show.
 * @param {string} [place] such as `requests/12`
 */
export function pageAddress(place = "") {
  return documentAddress("../_emulator", place);
}

function documentAddress(path, hash) {
  const url = new URL(path, ROOT);
  if (sandboxId() !== "default") url.searchParams.set("sandbox", sandboxId());
  url.hash = hash;
  return url;
}

/** What answers in the place of the emulator. */
let source = null;

/** @param {any} answers from now on in the place of the emulator */
export function answerFrom(answers) {
  source = answers;
}

/** Whether a file is shown, in which nothing can be changed. */
export function isFile() {
  return source !== null;
}

/** Whether a path leads to the documentation or the contract, which are no part of a sandbox. */
function isDocumentation(path) {
  return path.startsWith("/docs/") || path === "/contract.json";
}

/** The headers that let a request in. */
export function authorization() {
  const token = sessionStorage.getItem(TOKEN_NAME);
  return /** @type {Record<string, string>} */ (token ? { Authorization: `Bearer ${token}` } : {});
}

/** Whether a control token is known. */
export function hasToken() {
  return sessionStorage.getItem(TOKEN_NAME) !== null;
}

/** Whether a picture can be shown by its address alone: no header is needed, and it comes from no file. */
export function hasPublicPictures() {
  return !hasToken() && source === null;
}

/** Keep a control token for this tab; null forgets it. */
export function keepToken(token) {
  if (token === null) sessionStorage.removeItem(TOKEN_NAME);
  else sessionStorage.setItem(TOKEN_NAME, token);
}

/** Whether the emulator was started with a control token. */
export function mayNeedToken() {
  return document.documentElement.hasAttribute("data-needs-token");
}

/** Whether a token is needed and none is known yet: asking first is kinder than being refused first. */
function needsToken() {
  return mayNeedToken() && !hasToken();
}

let askForToken = () => Promise.reject(new Refusal(401, "authentication_required", "The control token is needed"));

/** Say who asks a person for the control token when it is missing or wrong. */
export function onTokenNeeded(asks) {
  askForToken = asks;
}

/**
 * Send a request and return its successful response; asks for the control token where that is what is missing.
 * @throws {Refusal}
 */
export async function send(method, path, options = {}) {
  const { json, query, signal } = options;
  if (source && !isDocumentation(path)) return source(method, path, query);
  if (needsToken() && path !== "/health") await askForToken();
  for (;;) {
    const headers = { ...options.headers, ...authorization() };
    if (json !== undefined) headers["Content-Type"] = "application/json";
    const body = json === undefined ? options.body : JSON.stringify(json);
    let response;
    try {
      response = await fetch(address(path, query), { method, headers, body, signal, cache: "no-store" });
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new Refusal(0, "unreachable", "The emulator cannot be reached. Is it still running?");
    }
    if (source && !isDocumentation(path)) throw new Refusal(0, "superseded", "A file was opened meanwhile");
    if (response.status === 401) await askForToken();
    else if (response.ok) return response;
    else throw await refusalOf(response);
  }
}

async function refusalOf(response) {
  const problem = await response.json().catch(() => ({}));
  const detail = withoutPointers(problem.detail ?? `The answer was ${response.status}`);
  return new Refusal(response.status, problem.code ?? "", detail);
}

/**
 * Send a request and return the JSON of its answer.
 * @throws {Refusal}
 */
export async function ask(method, path, options) {
  const response = await send(method, path, options);
  return response.status === 204 ? null : response.json();
}

/** The sandbox that the page shows, with its base URL and the variables for its clients. */
export function shownSandbox() {
  return ask("GET", `/sandboxes/${encodeURIComponent(sandboxId())}`);
}
