/** One request explained: what decided, what would have helped, what happened, and everything that was said. */

import { actButton, copy } from "./acts.js";
import { badge, element, fill, part } from "./dom.js";
import { linked } from "./ids.js";
import { ending } from "./journal.js";
import { json } from "./json-view.js";
import { ask, Refusal, referenceAddress } from "./service.js";
import { counted, duration, sentence } from "./words.js";
import { makeRule } from "./workbench.js";

const CHECK_SIGNS = { passed: "✓", decided: "●", "not reached": "○", "not known": "?" };

/**
 * @param {() => void} close
 */
export function createDetails(close) {
  const root = element("div", { class: "details", hidden: true, tabindex: -1 });
  /** What is sent again from here stays while the request is read again. */
  const again = element("div", { class: "again-place" });
  /** @type {number | null} */
  let opened = null;

  document.addEventListener("keydown", (event) => {
    const isInField = event.target instanceof Element && event.target.matches("input, select, textarea");
    if (event.key !== "Escape" || root.offsetParent === null || isInField) return;
    event.preventDefault();
    close();
  });

  async function refresh() {
    const wanted = opened;
    if (wanted === null) return;
    let content;
    try {
      content = describe(await ask("GET", `requests/${wanted}`), close, again);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      content = [head(`Request ${wanted}`, null, close), element("p", { class: "faint" }, error.message)];
    }
    if (wanted === opened) {
      const hadFocus = root.contains(document.activeElement);
      if (hadFocus && again.contains(document.activeElement)) return;
      fill(root, content);
      if (hadFocus) root.querySelector("button")?.focus();
    }
  }

  return {
    root,
    refresh,
    /** @param {number | null} sequence */
    async open(sequence) {
      const isOther = opened !== sequence;
      opened = sequence;
      root.hidden = sequence === null;
      if (!isOther) return;
      fill(again);
      if (sequence === null) return;
      root.scrollTop = 0;
      await refresh();
    },
  };
}

/**
 * @param {string} title
 * @param {Element | null} state
 * @param {() => void} close
 */
function head(title, state, close) {
  return element(
    "div",
    { class: "details-head" },
    state,
    element("h3", { class: "details-title" }, title),
    element("button", { type: "button", class: "quiet close", "aria-label": "Close", click: close }, "✕"),
  );
}

/**
 * @param {any} entry
 * @param {() => void} close
 * @param {HTMLElement} again
 * @returns {Node[]}
 */
function describe(entry, close, again) {
  const { explanation } = entry;
  const { kind, sign } = ending({ ...entry, isComplete: entry.duration_ms !== null });
  const state = badge(`${kind} badge-large`, sign, entry.status ?? "—");
  return /** @type {Node[]} */ (
    [
      head(entry.operation ?? `${entry.method} ${entry.path}`, state, close),
      element("p", { class: "details-line" }, element("code", {}, linked(`${entry.method} ${addressOf(entry)}`))),
      element("p", { class: "summary" }, linked(explanation.summary)),
      remedy(explanation),
      element("div", { class: "buttons" }, ...links(entry, again)),
      again,
      part("Checks", checks(explanation.checks)),
      causes(explanation),
      readings(explanation.readings),
      facts(entry),
      explanation.effects.length > 0 &&
        part(
          "Effects",
          element(
            "ul",
            { class: "plain" },
            explanation.effects.map((/** @type {string} */ effect) => element("li", {}, linked(effect))),
          ),
        ),
      bodySection("Request body", entry.request_body),
      headers("Response headers", entry.response_headers),
      bodySection("Response body", entry.response_body),
    ].filter(Boolean)
  );
}

/** @param {any} explanation */
function remedy(explanation) {
  if (!explanation.remedy) return null;
  return element(
    "div",
    { class: "callout" },
    element("p", { class: "callout-title" }, "Remedy"),
    element("p", {}, linked(explanation.remedy)),
  );
}

/**
 * @param {any} entry
 * @param {HTMLElement} again
 */
function links(entry, again) {
  const { related } = entry.explanation;
  const made = entry.status === 202 ? entry.response_body?.id : null;
  const curl = actButton("Copy as curl", async () => copy(await curlOf(entry), curl));
  const sends = async () => {
    const { sendAgain } = await import("./send-again.js");
    fill(again, await sendAgain(entry));
    again.querySelector("input")?.focus();
  };
  return [
    entry.curl && curl,
    entry.path.startsWith("/v1/") && actButton("Send again", sends, { class: "changes" }),
    entry.operation && actButton("Make a rule", () => makeRule(entry), { class: "changes" }),
    related?.sequence &&
      element(
        "a",
        { class: "button", href: `#requests/${related.sequence}`, title: related.why },
        entry.replayed ? "Original" : "Earlier request",
      ),
    made && element("a", { class: "button", href: `#work/${made}` }, "Show the work"),
    entry.operation && element("a", { class: "button", href: referenceAddress(entry.operation) }, "In the reference"),
  ];
}

/** @param {any} entry */
function facts(entry) {
  const { credential } = entry;
  /** @type {[string, string | null | undefined | false][]} */
  const rows = [
    ["Time", entry.at],
    ["Took", entry.duration_ms === null ? "still in flight" : duration(entry.duration_ms)],
    ["Team", credential?.team.name],
    ["Credential", credential && `${credential.name} (${credential.key})`],
    ["Idempotency-Key", entry.idempotency_key],
    ["Request-Id", entry.request_id],
    ["Client", entry.user_agent],
    ["Arrived", entry.arrived_at && `${entry.arrived_at} (host time)`],
    ["Note", entry.note],
  ];
  return element(
    "dl",
    { class: "facts" },
    rows
      .filter(([, value]) => value)
      .flatMap(([term, value]) => [element("dt", {}, term), element("dd", { dir: "auto" }, linked(value || ""))]),
  );
}

/**
 * What in a scenario had a hand in it: rules, and a change of the timeline, each with file and line.
 * @param {any} explanation
 */
function causes(explanation) {
  const rules = explanation.rules.map((/** @type {any} */ rule) => cause(`Rule ${rule.name ?? ""}`, rule, rule.did));
  const change = explanation.decided_by?.timeline;
  const changed = change ? [cause("Timeline", change, `changed this at ${change.at}`)] : [];
  return (
    rules.length + changed.length > 0 &&
    part("Scenario", element("ul", { class: "plain causes" }, ...rules, ...changed))
  );
}

/**
 * The readings of the sandbox that are not plain.
 * @param {{reading: string, emulator: string}[]} list
 */
function readings(list) {
  const items = list.map(({ reading, emulator }) =>
    element("li", {}, element("span", { class: "tag" }, reading), ` ${emulator}`),
  );
  return items.length > 0 && part("Readings", element("ul", { class: "plain" }, ...items));
}

/**
 * @param {string} title
 * @param {any} where
 * @param {string} what
 */
function cause(title, where, what) {
  const file = where.file && `${where.file}${where.line ? `, line ${where.line}` : ""}`;
  return element(
    "li",
    {},
    element("strong", {}, title),
    file && element("code", { class: "place" }, file),
    element("span", {}, what),
  );
}

/** @param {any[]} list */
function checks(list) {
  const decidedAt = list.findIndex((check) => check.result === "decided");
  return element(
    "ol",
    { class: "checks" },
    list.map((check, index) => {
      const result = /** @type {keyof typeof CHECK_SIGNS} */ (check.result);
      const isAfter = decidedAt >= 0 && index > decidedAt;
      return element(
        "li",
        { class: `check check-${result.replace(" ", "-")}${isAfter ? " is-after" : ""}` },
        element("span", { class: "check-sign", "aria-hidden": "true" }, CHECK_SIGNS[result] ?? "·"),
        element(
          "div",
          {},
          element("span", { class: "check-name" }, sentence(check.check)),
          element("span", { class: result === "decided" ? "tag" : "visually-hidden" }, result),
          check.detail && element("p", { class: "check-detail" }, linked(check.detail)),
          result === "decided" && source(check.source),
        ),
      );
    }),
  );
}

/** @param {{section: string, decisions: string[]} | null} from */
function source(from) {
  if (!from) return null;
  return element(
    "p",
    { class: "faint" },
    `Specification, section ${from.section} `,
    from.decisions.map((decision) => element("a", { class: "decision", href: referenceAddress(decision) }, decision)),
  );
}

/**
 * @param {string} title
 * @param {unknown} body
 */
function bodySection(title, body) {
  if (body === null || body === undefined) return null;
  const button = actButton("Copy", () => copy(JSON.stringify(body, null, 2), button), {
    class: "quiet",
    "aria-label": `Copy the ${title.toLowerCase()}`,
  });
  return part(title, element("div", { class: "body" }, button, json(body, title)));
}

/**
 * @param {string} title
 * @param {Record<string, string> | [string, string][] | null | undefined} list
 */
function headers(title, list) {
  const pairs = Array.isArray(list) ? list : Object.entries(list ?? {});
  if (!pairs.length) return null;
  return element(
    "details",
    { class: "headers" },
    element("summary", {}, `${title} `, element("span", { class: "faint" }, counted(pairs.length, "header"))),
    element(
      "dl",
      { class: "facts" },
      pairs.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, linked(value))]),
    ),
  );
}

/**
 * The request as a command: with its key where the page can see it, else with the variable that clients are given.
 * @param {any} entry
 */
async function curlOf(entry) {
  const { data: teams } = await ask("GET", "teams");
  const keys = new Map(
    teams.flatMap((/** @type {any} */ team) =>
      team.credentials.map((/** @type {any} */ credential) => [credential.id, credential.key]),
    ),
  );
  const key = entry.credential && keys.get(entry.credential.id);
  if (!key) return entry.curl;
  const ofTheEnvironment = '"Authorization: Bearer $IMAGE_WORKFLOW_API_KEY"';
  return entry.curl.replace(ofTheEnvironment, () => quoted(`Authorization: Bearer ${key}`));
}

/** @param {string} text */
function quoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** @param {import("./journal.js").Entry} entry */
function addressOf({ path, query }) {
  return query ? `${path}?${query}` : path;
}
