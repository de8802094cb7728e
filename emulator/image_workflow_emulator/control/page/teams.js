/** The region `Teams`: Credits, Subscription and concurrency of each, its keys, and the pause of admission for all. */

import { idLink } from "./ids.js";
import { ask } from "./service.js";
import { emulatorNow, keepClock, lastClock } from "./time.js";
import { act, actButton, copy, head, html, options, render, tableHead } from "./ui.js";

export const name = "Teams";
export const place = "main";
export const concerns = ["team", "request", "work", "scenario", "clock", "reset"];

const SAVED_MS = 4000;

export function create(panel) {
  let teams = [];
  let admission = { state: "open", retry_after: null };
  /** Credits that are typed and not saved yet, by the id of their Team. */
  const typed = new Map();
  /** The Team whose Credits were just saved. */
  let saved = "";

  function draw() {
    const isPaused = admission.state === "paused";
    const wait = admission.retry_after ? `, Retry-After ${admission.retry_after}` : "";
    const text = isPaused ? `❚❚ Admission is paused: new writes get 503${wait}` : "Admission is open";
    const set = (state) => async () => {
      await ask("PUT", "admission", { json: { state } });
      await refresh();
      return `Admission is ${state}`;
    };
    const buttons = [actButton("Pause admission", set("paused")), actButton("Open admission", set("open"))];
    const view = [
      head(
        name,
        html`<p class=${`admission ${isPaused ? "is-paused" : "faint"}`}>${text}</p>`,
        html`<div class="buttons push">${buttons}</div>`,
      ),
      html`<div class="teams">${teams.map(card)}</div>`,
    ];
    render(view, panel);
  }

  async function refresh() {
    if (!lastClock()) keepClock(await ask("GET", "clock"));
    const [{ data }, paused] = await Promise.all([ask("GET", "teams"), ask("GET", "admission")]);
    teams = data;
    admission = paused;
    draw();
  }

  function save(control, team, change) {
    return act(control, async () => {
      try {
        await ask("PATCH", `teams/${encodeURIComponent(team.id)}`, { json: change });
      } finally {
        // What was refused makes room for what is there.
        typed.delete(team.id);
        await refresh();
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
        <input type="number" min="0" step="1" inputmode="numeric" aria-label="Credits"
          class=${typed.has(id) ? "number is-changed" : "number"} value=${typed.get(id) ?? team.credits}
          onInput=${({ currentTarget }) => typed.set(id, currentTarget.value) && draw()}
          onKeyDown=${(event) => pressed(event, team)}
          onBlur=${({ currentTarget }) => saveCredits(currentTarget, team)} />
        <span class="saved" aria-hidden="true">${saved === id && "Saved"}</span>
      </span>
    `;
    const change = ({ currentTarget: control }) => void save(control, team, { subscription: control.value });
    const subscription = html`
      <select aria-label="Subscription" value=${team.subscription} onChange=${change}>
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
      await refresh();
      return `The credential is ${wanted}`;
    };
    const copies = actButton("Copy", (button) => copy(key, button), { class: "quiet" });
    const press = ({ currentTarget }) => void act(currentTarget, change);
    return html`
      <tr key=${id}>
        <td><code>${key}</code></td>
        <td>${profile.replace("_", " ")}</td>
        <td><span class=${`tag credential-state is-${shown}`}>${shown === "active" ? "✓" : "✕"} ${shown}</span></td>
        <td class="credential-acts">
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
