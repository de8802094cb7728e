/** A request sent again, as it was or changed, through `/v1` as a client sends it; both answers beside each other. */

import { act, actButton } from "./acts.js";
import { newIdempotencyKey, sendAsClient } from "./client.js";
import { Contract } from "./contract.js";
import { element, field, fill, part } from "./dom.js";
import { ask, pageAddress } from "./service.js";

/**
 * A form for a request of the journal.
 * @param {any} entry
 */
export async function sendAgain(entry) {
  const [{ data: teams }, document] = await Promise.all([ask("GET", "teams"), ask("GET", "/contract.json")]);
  const contract = new Contract(document);
  const operation = contract
    .tags()
    .flatMap((/** @type {any} */ tag) => tag.operations)
    .find((/** @type {any} */ { id }) => id === entry.operation);
  const credentials = teams.flatMap((/** @type {any} */ team) => team.credentials);
  const { key } = credentials.find((/** @type {any} */ one) => one.id === entry.credential?.id) ?? { key: "" };
  const idempotencyKey = element("input", { id: "again-key", autocomplete: "off", spellcheck: "false" });
  idempotencyKey.value = entry.idempotency_key ?? "";
  const text =
    typeof entry.request_body === "string" ? entry.request_body : JSON.stringify(entry.request_body, null, 2);
  const hasBody = entry.method !== "GET" && entry.method !== "DELETE";
  const body = element("textarea", { id: "again-body", spellcheck: "false", rows: 8, disabled: !hasBody });
  body.value = entry.request_body === null ? "" : text;
  const fault = element(
    "select",
    { id: "again-fault" },
    element("option", { value: "" }, "none"),
    (operation ? contract.faultsOf(operation) : []).map((code) => element("option", { value: code }, code)),
  );
  const answers = element("div", { class: "answers", "aria-live": "polite" });
  const send = element("button", { class: "primary" }, "Send");
  const form = element(
    "form",
    { class: "again" },
    field("Idempotency-Key", idempotencyKey),
    field("Fault", fault),
    field("Body", body),
    element(
      "div",
      { class: "buttons" },
      send,
      actButton("New key", () => {
        idempotencyKey.value = newIdempotencyKey();
      }),
    ),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void act(send, async () => {
      const headers = /** @type {Record<string, string>} */ ({});
      if (idempotencyKey.value) headers["Idempotency-Key"] = idempotencyKey.value;
      if (fault.value) headers["Emulator-Fault"] = fault.value;
      const path = entry.path.replace(/^\/v1/, "") + (entry.query ? `?${entry.query}` : "");
      const sent = hasBody && body.value ? body.value : undefined;
      const answer = await sendAsClient({ method: entry.method, path, key, headers, body: sent });
      fill(answers, ...sideBySide(entry, answer));
      answers.lastElementChild?.scrollIntoView({ block: "nearest" });
    });
  });
  return part("Send again", [form, answers]);
}

/**
 * @param {any} entry
 * @param {import("./client.js").Answer} answer
 */
function sideBySide(entry, answer) {
  const first = linesOf(entry.status, entry.response_body);
  const next = linesOf(answer.status, answer.body);
  const link =
    answer.entry &&
    element("a", { href: pageAddress(`requests/${answer.entry.sequence}`) }, `#${answer.entry.sequence}`);
  return [shown("First answer", first, next), shown("New answer", next, first, link)];
}

/**
 * @param {number | null} status
 * @param {any} body
 */
function linesOf(status, body) {
  return [String(status ?? "no answer"), ...(body === null ? [] : JSON.stringify(body, null, 2).split("\n"))];
}

/**
 * @param {string} title
 * @param {string[]} lines
 * @param {string[]} others the lines of the other answer
 * @param {Node | null} [link]
 */
function shown(title, lines, others, link = null) {
  const known = new Set(others);
  const marked = lines.map((line) =>
    known.has(line)
      ? `${line}\n`
      : element("mark", {}, element("span", { class: "visually-hidden" }, "differs: "), `${line}\n`),
  );
  return element(
    "div",
    { role: "group", "aria-label": title },
    element("h5", {}, title, " ", link),
    element("pre", { class: "json", tabindex: 0 }, marked),
  );
}
