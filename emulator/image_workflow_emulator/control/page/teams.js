/** The region `Teams`: Credits, Subscription and concurrency of each, its keys, and the pause of admission for all. */

import { act, actButton, copy } from "./acts.js";
import { element, follow, setText, tableHead } from "./dom.js";
import { idLink } from "./ids.js";
import { ask } from "./service.js";
import { emulatorNow, keepClock, lastClock } from "./time.js";

export const name = "Teams";
/** @type {"main"} */
export const place = "main";
export const concerns = ["team", "request", "work", "scenario", "clock", "reset"];

/**
 * @typedef {object} Credential
 * @property {string} id
 * @property {string} key
 * @property {string} name
 * @property {string} profile
 * @property {string} state
 * @property {string} expires_at
 *
 * @typedef {object} Team
 * @property {string} id
 * @property {string} name
 * @property {number} credits
 * @property {number} reserved
 * @property {string} subscription
 * @property {number} concurrency_limit
 * @property {number} [concurrency_used]
 * @property {Credential[]} credentials
 */

const SAVED_MS = 4000;

/** @param {HTMLElement} panel */
export function create(panel) {
  const admission = element("p", { class: "admission" });
  const teams = element("div", { class: "teams" });

  /** @param {"paused" | "open"} state */
  const set = (state) => async () => {
    await ask("PUT", "admission", { json: { state } });
    await refresh();
    return `Admission is ${state}`;
  };
  panel.append(
    element(
      "div",
      { class: "region-head" },
      element("h2", {}, name),
      admission,
      element(
        "div",
        { class: "buttons push" },
        actButton("Pause admission", set("paused")),
        actButton("Open admission", set("open")),
      ),
    ),
    teams,
  );

  async function refresh() {
    if (!lastClock()) keepClock(await ask("GET", "clock"));
    const [{ data }, { state, retry_after: wait }] = await Promise.all([ask("GET", "teams"), ask("GET", "admission")]);
    const isPaused = state === "paused";
    setText(
      admission,
      isPaused
        ? `❚❚ Admission is paused: new writes get 503${wait ? `, Retry-After ${wait}` : ""}`
        : "Admission is open",
    );
    admission.className = isPaused ? "admission is-paused" : "admission faint";
    follow(teams, data, (team) => team.id, makeTeam, updateTeam);
  }

  /** @param {Team} team */
  function makeTeam(team) {
    /** @param {string} label @param {HTMLElement} control */
    const cell = (label, control) => element("td", { "data-label": label }, control);
    const credits = element("input", {
      type: "number",
      min: 0,
      step: 1,
      "aria-label": "Credits",
      class: "number",
      inputmode: "numeric",
    });
    const subscription = element(
      "select",
      { "aria-label": "Subscription" },
      element("option", { value: "active" }, "active"),
      element("option", { value: "inactive" }, "inactive"),
    );
    const saved = element("span", { class: "saved", "aria-hidden": "true" });
    const saveCredits = async () => {
      const change = () => ({ credits: credits.value === "" ? null : Number(credits.value) });
      if (!(await save(credits, change))) return;
      setText(saved, "Saved");
      setTimeout(() => setText(saved, ""), SAVED_MS);
    };
    /** @param {HTMLElement} control @param {() => Record<string, unknown>} change */
    const save = (control, change) =>
      act(control, async () => {
        try {
          await ask("PATCH", `teams/${encodeURIComponent(team.id)}`, { json: change() });
        } finally {
          // What was refused makes room for what is there.
          control.classList.remove("is-changed");
          await refresh();
        }
        return "Saved";
      });
    credits.addEventListener("input", () => credits.classList.add("is-changed"));
    credits.addEventListener("keydown", (event) => {
      if (event.key === "Enter") void saveCredits();
      if (event.key === "Escape" && credits.classList.contains("is-changed")) {
        event.preventDefault();
        credits.classList.remove("is-changed");
        void refresh();
      }
    });
    credits.addEventListener("blur", () => {
      if (credits.classList.contains("is-changed")) void saveCredits();
    });
    subscription.addEventListener("change", () => {
      void save(subscription, () => ({ subscription: subscription.value }));
    });
    return element(
      "div",
      { class: "team" },
      element(
        "table",
        { class: "team-facts" },
        element("caption", { class: "visually-hidden" }, `The Team ${team.name}`),
        tableHead(["Team", "Credits", "Reserved", "Subscription", "Concurrency"]),
        element(
          "tbody",
          {},
          element(
            "tr",
            {},
            element("th", { scope: "row", class: "team-name", dir: "auto" }, idLink(team.id, team.name)),
            cell("Credits", element("span", { class: "credits" }, credits, saved)),
            cell("Reserved", element("span", { class: "team-reserved" })),
            cell("Subscription", subscription),
            cell("Concurrency", element("span", { class: "team-concurrency" })),
          ),
        ),
      ),
      element(
        "table",
        { class: "credentials" },
        element("caption", { class: "visually-hidden" }, `Credentials of ${team.name}`),
        tableHead(["Key", "Profile", "State", "Acts"], { class: "visually-hidden" }),
        element("tbody", {}),
      ),
    );
  }

  /**
   * @param {Element} made
   * @param {Team} team
   */
  function updateTeam(made, team) {
    const credits = /** @type {HTMLInputElement} */ (made.querySelector("input"));
    const subscription = /** @type {HTMLSelectElement} */ (made.querySelector("select"));
    if (!credits.classList.contains("is-changed")) credits.value = String(team.credits);
    if (document.activeElement !== subscription) subscription.value = team.subscription;
    setText(/** @type {Element} */ (made.querySelector(".team-reserved")), team.reserved);
    const used = team.concurrency_used ?? "–";
    setText(/** @type {Element} */ (made.querySelector(".team-concurrency")), `${used} of ${team.concurrency_limit}`);
    const rows = /** @type {Element} */ (made.querySelector(".credentials tbody"));
    follow(rows, team.credentials, (credential) => credential.id, makeCredential, updateCredential);
  }

  /** @param {Credential} credential */
  function makeCredential(credential) {
    // The same button both ways, so that it keeps the focus.
    const change = actButton(
      "Revoke",
      async () => {
        const state = change.textContent === "Revoke" ? "revoked" : "active";
        await ask("PATCH", `credentials/${encodeURIComponent(credential.id)}`, { json: { state } });
        await refresh();
        return `The credential is ${state}`;
      },
      { class: "quiet credential-change" },
    );
    const copies = actButton("Copy", () => copy(credential.key, copies), { class: "quiet" });
    return element(
      "tr",
      {},
      element("td", {}, element("code", {}, credential.key)),
      element("td", {}, credential.profile.replace("_", " ")),
      element("td", {}, element("span", { class: "tag credential-state" })),
      element("td", { class: "credential-acts" }, copies, change),
    );
  }

  /**
   * @param {Element} row
   * @param {Credential} credential
   */
  function updateCredential(row, { state, expires_at: expiry }) {
    const isExpired = Date.parse(expiry) <= emulatorNow();
    const shown = state === "active" && isExpired ? "expired" : state;
    const tag = /** @type {Element} */ (row.querySelector(".credential-state"));
    setText(tag, `${shown === "active" ? "✓" : "✕"} ${shown}`);
    tag.className = `tag credential-state is-${shown}`;
    const isActive = state === "active";
    const change = /** @type {HTMLButtonElement} */ (row.querySelector(".credential-change"));
    setText(change, isActive ? "Revoke" : "Restore");
    change.classList.toggle("danger", isActive);
  }

  return { refresh };
}
