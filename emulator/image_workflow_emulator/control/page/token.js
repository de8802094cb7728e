/** The control token, asked for once for all that wait for it. */

import { hasToken, keepToken } from "./service.js";
import { byId, html, render } from "./ui.js";

const FIRST = "This emulator was started with a control token. It is kept for this tab only.";
const WRONG = "This is not the emulator's control token.";

let asking = null;

/** Ask for the control token; one that was sent and refused is forgotten. */
export function askForToken() {
  asking ??= new Promise((resolve) => {
    const isWrong = hasToken();
    keepToken(null);
    const submit = (event) => {
      event.preventDefault();
      keepToken(event.currentTarget.elements.token.value.trim());
      render(null, byId("alone"));
      document.documentElement.classList.remove("is-alone");
      asking = null;
      resolve(null);
    };
    const form = html`
      <form class="notice token" onSubmit=${submit}>
        <p role=${isWrong ? "alert" : null}>${isWrong ? WRONG : FIRST}</p>
        <label for="token">Control token</label>
        <input id="token" type="password" autocomplete="off" required />
        <button class="primary">Continue</button>
      </form>
    `;
    document.documentElement.classList.add("is-alone");
    render(form, byId("alone"));
    byId("token").focus();
  });
  return asking;
}
