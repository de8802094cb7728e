/** The region `Sandboxes`: which one the page shows, made, reset, ended, saved to a file and loaded from one. */

import { act, actButton, askingButton, copy, download } from "./acts.js";
import { element, field, fill, follow, setText, tableHead } from "./dom.js";
import { ask, sandboxId, send } from "./service.js";

export const name = "Sandboxes";
/** @type {"main"} */
export const place = "main";
export const concerns = ["reset", "clock", "shown"];

/** @param {HTMLElement} panel */
export function create(panel) {
  const choice = element("select", { id: "sandbox" });
  const identifier = element("input", {
    id: "sandbox-name",
    autocomplete: "off",
    spellcheck: "false",
    placeholder: "name (optional)",
  });
  const file = element("input", {
    type: "file",
    accept: ".zip,application/zip",
    hidden: true,
    "aria-label": "Load state",
  });
  const rows = element("tbody", {});
  const variables = element("pre", { class: "variables", tabindex: 0, role: "group", "aria-label": "Variables" });
  const copies = actButton("Copy", () => copy(`${variables.textContent}\n`, copies), {
    class: "quiet",
    "aria-label": "Copy the variables",
  });

  choice.addEventListener("change", () => show(choice.value));
  // Other sandboxes come and go without an event of this one.
  for (const opening of ["pointerdown", "focus"])
    choice.addEventListener(opening, () => void refresh().catch(() => {}));
  file.addEventListener("change", () => {
    const [chosen] = file.files ?? [];
    if (chosen) void act(file, () => load(chosen)).then(() => (file.value = ""));
  });

  panel.append(
    element("div", { class: "region-head" }, element("h2", {}, name)),
    element(
      "div",
      { class: "sandbox-acts" },
      field("Sandbox on this page", choice),
      element(
        "div",
        { class: "buttons" },
        askingButton("Reset", async () => {
          await ask("POST", "reset");
          return "The sandbox is back at its start";
        }),
        actButton("Save state", async () => {
          const response = await send("GET", "state");
          download(await response.blob(), `${sandboxId()}-state.zip`);
          return "The state is saved";
        }),
        actButton("Load state", () => file.click()),
        file,
        askingButton(
          "Delete",
          async () => {
            await ask("DELETE", `/sandboxes/${encodeURIComponent(sandboxId())}`);
            show("default");
          },
          { class: "danger push" },
        ),
      ),
    ),
    element(
      "div",
      { class: "sandbox-acts" },
      field("New sandbox", identifier),
      actButton(
        "Create",
        async () => {
          const id = identifier.value.trim();
          const made = await ask("POST", "/sandboxes", { json: id ? { id } : {} });
          show(made.id);
        },
        { class: "primary" },
      ),
    ),
    element("table", { class: "sandboxes" }, tableHead(["Sandbox", "Clock", "Full key of its first Team"]), rows),
    element(
      "div",
      { class: "sandbox-variables" },
      element("div", { class: "region-head" }, element("h3", {}, "Variables for a client of this sandbox"), copies),
      variables,
    ),
  );
  identifier.addEventListener("keydown", (event) => {
    if (event.key === "Enter") panel.querySelector("button.primary")?.dispatchEvent(new MouseEvent("click"));
  });

  /** @param {File} chosen */
  async function load(chosen) {
    await send("PUT", "state", { body: chosen, headers: { "Content-Type": "application/zip" } });
    return "The state is loaded";
  }

  async function refresh() {
    const { data } = await ask("GET", "/sandboxes");
    follow(
      choice,
      data,
      (/** @type {any} */ one) => one.id,
      (one) => element("option", { value: one.id }, one.id),
    );
    choice.value = sandboxId();
    const { env = {} } = data.find((/** @type {any} */ one) => one.id === sandboxId()) ?? {};
    setText(
      variables,
      Object.entries(env)
        .map(([key, value]) => `export ${key}=${value}`)
        .join("\n"),
    );
    follow(
      rows,
      data,
      (/** @type {any} */ one) => one.id,
      () => element("tr", {}),
      (row, one) =>
        fill(
          row,
          element("th", { scope: "row" }, element("a", { href: pageOf(one.id) }, one.id)),
          element("td", {}, `${one.clock.now.replace("T", " ").replace("Z", "")}, ${one.clock.mode}`),
          element(
            "td",
            {},
            element("code", {}, one.env?.IMAGE_WORKFLOW_API_KEY ?? one.teams[0]?.credentials[0]?.key ?? ""),
          ),
        ),
    );
  }
  return { refresh };
}

/** @param {string} id */
function pageOf(id) {
  const url = new URL(location.href);
  if (id === "default") url.searchParams.delete("sandbox");
  else url.searchParams.set("sandbox", id);
  url.hash = "#sandboxes";
  return url.href;
}

/**
 * Show another sandbox.
 * @param {string} id
 */
function show(id) {
  location.href = pageOf(id);
}
