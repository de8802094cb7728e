/**
 * The region `File`: a report of sweep, and the button that opens files. A session, a journal or a coverage takes the place
 * of the emulator on the page, read only; a state file becomes a sandbox of its own.
 */

import { act, actButton } from "./acts.js";
import { byId, element, fill, setText } from "./dom.js";
import { answerFrom, ask, pageAddress, Refusal, send } from "./service.js";

export const name = "File";
/** @type {"main"} */
export const place = "main";
export const isOnDemand = true;
/** @type {string[]} */
export const concerns = [];

const EXPECTED =
  'expected a session or state file of an emulator, a journal, a coverage, or a report of sweep (with "cells")';

/** @param {HTMLElement} panel */
export function create(panel) {
  const title = element("h2", {}, name);
  const content = element("div", { class: "about" }, element("p", { class: "soft" }, "No file is open."));
  panel.append(element("div", { class: "region-head" }, title), content);
  const file = element("input", { type: "file", accept: ".json,.zip", hidden: true, "aria-label": "Open file" });
  const opener = actButton("Open file", () => file.click(), { class: "quiet" });
  const openFirst = (/** @type {FileList | null | undefined} */ files) =>
    files?.length && void act(opener, () => open(files[0])).then(() => (file.value = ""));
  file.addEventListener("change", () => openFirst(file.files));
  addEventListener("drop", (event) => event.defaultPrevented || openFirst(event.dataTransfer?.files));
  byId("open-file").append(opener, file);

  /** @param {File} chosen */
  async function open(chosen) {
    if (chosen.name.endsWith(".zip")) return openState(chosen);
    const read = parsed(chosen.name, await chosen.text());
    if (Array.isArray(read?.cells)) {
      const { sweepMatrix } = await import("./sweep.js");
      fill(content, sweepMatrix(read));
      setText(title, chosen.name);
      location.hash = "#file";
    } else {
      const { answersOf, readSession } = await import("./session.js");
      const session = readSession(read);
      if (!session) throw new Refusal(422, "invalid_file", `${chosen.name}: ${EXPECTED}`);
      answerFrom(answersOf(chosen.name, session));
      document.dispatchEvent(new CustomEvent("session", { detail: { name: chosen.name, ...session } }));
    }
    return `${chosen.name} is open`;
  }

  return { refresh: async () => {} };
}

/**
 * Load a state file into a new sandbox, and show that.
 * @param {File} chosen
 */
async function openState(chosen) {
  const { id } = await ask("POST", "/sandboxes", { json: {} });
  const path = `/sandboxes/${encodeURIComponent(id)}`;
  try {
    await send("PUT", `${path}/state`, { body: chosen, headers: { "Content-Type": "application/zip" } });
  } catch (error) {
    await ask("DELETE", path);
    throw error;
  }
  const url = pageAddress("work");
  url.searchParams.set("sandbox", id);
  location.href = url.href;
}

/**
 * @param {string} from
 * @param {string} text
 */
function parsed(from, text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Refusal(
      422,
      "invalid_file",
      `${from}: expected JSON or a state file; ${error instanceof Error ? error.message : error}`,
    );
  }
}
