/** The region `Sandboxes`: which one the page shows, made, reset, ended, saved to a file and loaded from one. */

import { ask, sandboxId, send } from "./service.js";
import { act, actButton, askingButton, copy, download, field, head, html, options, render, tableHead } from "./ui.js";

export const name = "Sandboxes";
export const place = "main";
export const concerns = ["reset", "clock", "shown"];

export function create(panel) {
  let sandboxes = [];
  let identifier = "";

  function draw() {
    const { env = {} } = sandboxes.find((one) => one.id === sandboxId()) ?? {};
    const variables = Object.entries(env).map(([key, value]) => `export ${key}=${value}`);
    const look = () => void refresh().catch(() => {});
    // Other sandboxes come and go without an event of this one.
    const choice = html`
      <select id="sandbox" value=${sandboxId()} onPointerDown=${look} onFocus=${look}
        onChange=${({ currentTarget }) => show(currentTarget.value)}>
        ${options(sandboxes.map(({ id }) => id))}
      </select>
    `;
    const file = html`<input type="file" accept=".zip" hidden aria-label="Load state" onChange=${load} />`;
    const made = html`
      <input id="sandbox-name" autocomplete="off" spellcheck=${false} placeholder="name (optional)"
        onInput=${({ currentTarget }) => (identifier = currentTarget.value)}
        onKeyDown=${({ key, currentTarget }) => key === "Enter" && void act(currentTarget, make)} />
    `;
    const names = { class: "quiet", "aria-label": "Copy the variables" };
    const view = html`
      ${head(name)}
      <div class="sandbox-acts">
        ${field("Sandbox on this page", "sandbox", choice)}
        <div class="buttons">
          ${askingButton("Reset", reset)}${actButton("Save state", save)}
          ${actButton("Load state", (button) => /** @type {any} */ (button.nextElementSibling).click())}${file}
          ${askingButton("Delete", remove, { class: "danger push" })}
        </div>
      </div>
      <div class="sandbox-acts">
        ${field("New sandbox", "sandbox-name", made)}${actButton("Create", make, { class: "primary" })}
      </div>
      <table class="sandboxes">
        ${tableHead(["Sandbox", "Clock", "Full key of its first Team"])}<tbody>${sandboxes.map(row)}</tbody>
      </table>
      <div class="sandbox-variables">
        <div class="region-head">
          <h3>Variables for a client of this sandbox</h3>
          ${actButton("Copy", (button) => copy(`${variables.join("\n")}\n`, button), names)}
        </div>
        <pre class="variables" tabindex="0" role="group" aria-label="Variables">${variables.join("\n")}</pre>
      </div>
    `;
    render(view, panel);
  }

  async function refresh() {
    sandboxes = (await ask("GET", "/sandboxes?limit=1000")).data;
    draw();
  }

  async function make() {
    const id = identifier.trim();
    show((await ask("POST", "/sandboxes", { json: id ? { id } : {} })).id);
  }

  async function reset() {
    await ask("POST", "reset");
    return "The sandbox is back at its start";
  }

  async function remove() {
    await ask("DELETE", `/sandboxes/${encodeURIComponent(sandboxId())}`);
    show("default");
  }

  async function save() {
    download(await (await send("GET", "state")).blob(), `${sandboxId()}-state.zip`);
    return "The state is saved";
  }

  async function load({ currentTarget: file }) {
    await act(file, async () => {
      await send("PUT", "state", { body: file.files[0], headers: { "Content-Type": "application/zip" } });
      return "The state is loaded";
    });
    file.value = "";
  }

  draw();
  return { refresh };
}

function row({ id, clock, env }) {
  return html`
    <tr key=${id}>
      <th scope="row"><a href=${pageOf(id)}>${id}</a></th>
      <td>${clock.now.replace("T", " ").replace("Z", "")}, ${clock.mode}</td>
      <td><code>${env.IMAGE_WORKFLOW_API_KEY}</code></td>
    </tr>
  `;
}

function pageOf(id) {
  const url = new URL(location.href);
  if (id === "default") url.searchParams.delete("sandbox");
  else url.searchParams.set("sandbox", id);
  url.hash = "#sandboxes";
  return url.href;
}

/** Show another sandbox. */
function show(id) {
  location.href = pageOf(id);
}
