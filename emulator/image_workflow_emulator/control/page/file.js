/**
 * The button `Open file`. A session, a journal or a coverage takes the place of the emulator on the page, read only; a state
 * file becomes a sandbox of its own.
 */

import { act, actButton } from "./acts.js";
import { element } from "./dom.js";
import { answerFrom, ask, pageAddress, Refusal, send } from "./service.js";

const EXPECTED = "expected a session or state file of an emulator, a journal, or a coverage";

/** @param {HTMLElement} place of the button; files may be dropped anywhere */
export function offerToOpen(place) {
  const file = element("input", { type: "file", accept: ".json,.zip", hidden: true, "aria-label": "Open file" });
  const opener = actButton("Open file", () => file.click(), { class: "quiet" });
  const openFirst = (/** @type {FileList | null | undefined} */ files) =>
    files?.length && void act(opener, () => open(files[0])).then(() => (file.value = ""));
  file.addEventListener("change", () => openFirst(file.files));
  addEventListener("drop", (event) => event.defaultPrevented || openFirst(event.dataTransfer?.files));
  place.append(opener, file);
}

/** @param {File} chosen */
async function open(chosen) {
  if (chosen.name.endsWith(".zip")) return openState(chosen);
  const read = parsed(chosen.name, await chosen.text());
  const { answersOf, readSession } = await import("./session.js");
  const session = readSession(read);
  if (!session) throw new Refusal(422, "invalid_file", `${chosen.name}: ${EXPECTED}`);
  answerFrom(answersOf(chosen.name, session));
  document.dispatchEvent(new CustomEvent("session", { detail: { name: chosen.name, ...session } }));
  return `${chosen.name} is open`;
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
