/** The control token, asked for once for all that wait for it. */

import { byId, element } from "./dom.js";
import { hasToken, keepToken } from "./service.js";

/** @type {Promise<void> | null} */
let asking = null;

/** Ask for the control token; one that was sent and refused is forgotten. */
export function askForToken() {
  asking ??= new Promise((resolve) => {
    const isWrong = hasToken();
    keepToken(null);
    const why = isWrong
      ? "This is not the emulator's control token."
      : "This emulator was started with a control token. It is kept for this tab only.";
    const field = element("input", { id: "token", type: "password", autocomplete: "off", required: true });
    const form = element(
      "form",
      { class: "notice token" },
      element("p", isWrong ? { role: "alert" } : {}, why),
      element("label", { for: "token" }, "Control token"),
      field,
      element("button", { class: "primary" }, "Continue"),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      keepToken(field.value.trim());
      form.remove();
      document.documentElement.classList.remove("is-alone");
      asking = null;
      resolve();
    });
    document.documentElement.classList.add("is-alone");
    byId("alone").append(form);
    field.focus();
  });
  return asking;
}
