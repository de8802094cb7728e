/**
 * The button `Open file`. A session, a journal or a coverage takes the place of the emulator on the page, read only; a state
 * file becomes a sandbox of its own.
 */

import { answerFrom, ask, pageAddress, Refusal, send } from "./service.js";
import { act, actButton, html, render } from "./ui.js";

const EXPECTED = "expected a session or state file of an emulator, a journal, or a coverage";

/** @param {HTMLElement} place of the button; files may be dropped anywhere */
export function offerToOpen(place) {
  const openFirst = (files) => (files?.length ? act(place, () => open(files[0])) : Promise.resolve(false));
  const take = ({ currentTarget: input }) => openFirst(input.files).then(() => (input.value = ""));
  const choose = (button) => button.nextElementSibling.click();
  const input = html`<input type="file" accept=".json,.zip" hidden aria-label="Open file" onChange=${take} />`;
  render([actButton("Open file", choose, { class: "quiet" }), input], place);
  addEventListener("drop", (event) => event.defaultPrevented || void openFirst(event.dataTransfer?.files));
}

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

/** Load a state file into a new sandbox, and show that. */
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
