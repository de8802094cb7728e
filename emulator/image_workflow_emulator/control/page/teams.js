/** The region `Teams`: Credits, Subscription and concurrency of each, its keys, and the pause of admission for all. */

import { idLink } from "./ids.js";
import { ask, isFile } from "./service.js";
import * as store from "./store.js";
import { emulatorNow } from "./time.js";
import { act, actButton, copy, head, html, options, render, tableHead } from "./ui.js";

export const name = "Teams";
export const place = "main";
export const concerns = ["team", "work", "scenario", "clock", "reset"];

const SAVED_MS = 4000;

export function create(panel) {
  /** Credits that are typed and not saved yet, by the id of their Team. */
  const typed = new Map();
  /** The Team whose Credits were just saved. */
  let saved = "";

  function draw() {
    const { state: admission = "", retry_after: seconds = null } = store.admission.last ?? {};
    const isPaused = admission === "paused";
    const wait = seconds ? `, Retry-After ${seconds}` : "";
    const texts = { paused: `❚❚ Admission is paused: new writes get 503${wait}`, open: "Admission is open" };
    const set = (state) => async () => {
      store.admission.keep(await ask("PUT", "admission", { json: { state } }));
      draw();
      return `Admission is ${state}`;
    };
    const buttons = [
      actButton("Pause admission", set("paused"), { disabled: admission !== "open" }),
      actButton("Open admission", set("open"), { disabled: !isPaused }),
    ];
    const view = [
      head(
        name,
        html`<p class=${`admission ${isPaused ? "is-paused" : "faint"}`}>${texts[admission]}</p>`,
        html`<div class="buttons push changes">${buttons}</div>`,
      ),
      html`<div class="teams">${(store.teams.last ?? []).map(card)}</div>`,
    ];
    render(view, panel);
  }

  async function refresh() {
    await Promise.all([store.teams.get(), store.admission.get(), store.clock.get()]);
    draw();
  }

  function save(control, team, change) {
    return act(control, async () => {
      try {
        await ask("PATCH", `teams/${encodeURIComponent(team.id)}`, { json: change });
      } finally {
        // What was refused makes room for what is there.
        typed.delete(team.id);
        await store.teams.renew();
        draw();
      }
      return "Saved";
    });
  }

  async function saveCredits(field, team) {
    const text = typed.get(team.id);
    if (text === undefined) return;
    if (!(await save(field, team, { credits: text === "" ? null : Number(text) }))) return;
    saved = team.id;
    draw();
    setTimeout(() => {
      saved = "";
      draw();
    }, SAVED_MS);
  }

  function pressed(event, team) {
    if (event.key === "Enter") void saveCredits(event.currentTarget, team);
    if (event.key !== "Escape" || !typed.delete(team.id)) return;
    event.preventDefault();
    draw();
  }

  function card(team) {
    const { id, name, reserved, concurrency_limit: limit, concurrency_used: used } = team;
    const cell = (label, content) => html`<td data-label=${label}>${content}</td>`;
    const credits = html`
      <span class="credits">
        <input type="number" min="0" step="1" inputmode="numeric" aria-label="Credits" disabled=${isFile()}
          class=${typed.has(id) ? "number is-changed" : "number"} value=${typed.get(id) ?? team.credits}
          onInput=${({ currentTarget }) => typed.set(id, currentTarget.value) && draw()}
          onKeyDown=${(event) => pressed(event, team)}
          onBlur=${({ currentTarget }) => saveCredits(currentTarget, team)} />
        <span class="saved" aria-hidden="true">${saved === id && "Saved"}</span>
      </span>
    `;
    const change = ({ currentTarget: control }) => void save(control, team, { subscription: control.value });
    const subscription = html`
      <select aria-label="Subscription" disabled=${isFile()} value=${team.subscription} onChange=${change}>
        ${options(["active", "inactive"])}
      </select>
    `;
    return html`
      <div class="team" key=${id}>
        <table class="team-facts">
          <caption class="visually-hidden">The Team ${name}</caption>
          ${tableHead(["Team", "Credits", "Reserved", "Subscription", "Concurrency"])}
          <tbody>
            <tr>
              <th scope="row" class="team-name" dir="auto">${idLink(id, name)}</th>
              ${cell("Credits", credits)}${cell("Reserved", reserved)}${cell("Subscription", subscription)}
              ${cell("Concurrency", `${used ?? "–"} of ${limit}`)}
            </tr>
          </tbody>
        </table>
        <table class="credentials">
          <caption class="visually-hidden">Credentials of ${name}</caption>
          ${tableHead(["Key", "Profile", "State", "Acts"], "visually-hidden")}
          <tbody>${team.credentials.map(row)}</tbody>
        </table>
      </div>
    `;
  }

  function row({ id, key, profile, state, expires_at: expiry }) {
    const isActive = state === "active";
    const shown = isActive && Date.parse(expiry) <= emulatorNow() ? "expired" : state;
    // The same button both ways, so that it keeps the focus.
    const change = async () => {
      const wanted = isActive ? "revoked" : "active";
      await ask("PATCH", `credentials/${encodeURIComponent(id)}`, { json: { state: wanted } });
      await store.teams.renew();
      draw();
      return `The credential is ${wanted}`;
    };
    const copies = actButton("Copy", (button) => copy(key, button), { class: "quiet" });
    const press = ({ currentTarget }) => void act(currentTarget, change);
    return html`
      <tr key=${id}>
        <td><code>${key}</code></td>
        <td>${profile.replace("_", " ")}</td>
        <td><span class=${`tag credential-state is-${shown}`}>${shown === "active" ? "✓" : "✕"} ${shown}</span></td>
        <td class="credential-acts changes">
          ${copies}
          <button type="button" class=${`quiet ${isActive ? "danger" : ""}`} onClick=${press}>
            ${isActive ? "Revoke" : "Restore"}
          </button>
        </td>
      </tr>
    `;
  }

  draw();
  return { refresh };
}
