/** `Try it` of the reference: a form gets what the sandbox has, is sent through `/v1`, and its answer is shown. */

import { keysOf, newIdempotencyKey, sendAsClient } from "./client.js";
import { json } from "./ids.js";
import { ending } from "./journal.js";
import { ask, onTokenNeeded, pageAddress } from "./service.js";
import { askForToken } from "./token.js";
import { act, badge, byId, html, options, render } from "./ui.js";

const KEY = "Idempotency-Key";

/** Fill a form with credentials, Assets that exist, and a new key. */
async function prepare(form) {
  const { credential, body, [KEY]: key } = form.elements;
  if (credential.options.length > 0) return;
  const [{ data: teams }, { data: assets }] = await Promise.all([ask("GET", "teams"), ask("GET", "assets")]);
  render(options(teams.flatMap(keysOf)), credential);
  const ids = assets.map((asset) => asset.id);
  for (const input of form.querySelectorAll("input")) input.value = fitted(input.value, ids);
  if (body) body.value = fitted(body.value, ids);
  if (key) key.value = newIdempotencyKey();
}

/**
 * Name Assets that exist in the place of those of an example, each by another, as far as there are enough.
 * @param {string[]} ids newest first
 */
function fitted(text, ids) {
  const named = [...new Set(text.match(/\bast_\w+/g) ?? [])];
  return named.reduce((fit, name, index) => fit.replaceAll(name, ids[index] ?? name), text);
}

async function send(form) {
  const { credential, fault, body } = form.elements;
  const query = new URLSearchParams();
  const headers = /** @type {Record<string, string>} */ ({});
  let { path } = form.dataset;
  for (const { name, value, dataset } of form.querySelectorAll("input")) {
    if (dataset.in === "path") path = path.replace(`{${name}}`, encodeURIComponent(value));
    else if (value && dataset.in === "query") query.set(name, value);
    else if (value) headers[name] = value;
  }
  if (fault.value) headers["Emulator-Fault"] = fault.value;
  if (query.size) path += `?${query}`;
  const request = { method: form.dataset.method, path, key: credential.value, headers, body: body?.value };
  render(described(await sendAsClient(request)), form.nextElementSibling);
}

function described({ status, body, entry }) {
  const { kind, sign, word } = ending({ status, replayed: entry?.replayed ?? false, isComplete: true });
  const isWork = ["generation", "operation"].includes(body?.object);
  return html`
    <p class="buttons">
      ${badge(kind, sign, `${status ?? ""} ${word}`)}
      <a class="button" href=${pageAddress(entry ? `requests/${entry.sequence}` : "requests")}>Explain in Requests</a>
      ${isWork && html`<a class="button" href=${pageAddress(`work/${body.id}`)}>Show the work</a>`}
    </p>
    ${body !== null && json(body, "Answer")}
  `;
}

onTokenNeeded(askForToken);
byId("page-link").setAttribute("href", pageAddress().href);
for (const details of document.querySelectorAll("details.try")) {
  const form = /** @type {HTMLFormElement} */ (details.querySelector("form"));
  details.addEventListener("toggle", () => void act(details, () => prepare(form)));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void act(form, () => send(form));
  });
  form.querySelector("[data-act=new-key]")?.addEventListener("click", () => {
    /** @type {any} */ (form.elements)[KEY].value = newIdempotencyKey();
  });
}
// Parts that come into view take their true height: where the address points is reached once more, from near by.
const reveal = () => document.querySelector(":target")?.scrollIntoView();
reveal();
requestAnimationFrame(() => requestAnimationFrame(reveal));
