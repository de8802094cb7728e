/**
 * Pictures of the sandbox as images on the page: loaded when they come into view, with the control token where needed;
 * opened large one after another, saved, and their ids copied.
 */

import { idLink } from "./ids.js";
import { address, hasPublicPictures, send } from "./service.js";
import { actButton, copy, download, html, render, useEffect, useRef } from "./ui.js";

/** What loads an image once it comes into view. */
const waiting = new WeakMap();
const inView = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      inView.unobserve(target);
      waiting.get(target)?.();
    }
  },
  { rootMargin: "200px" },
);

export function picture({ url, alt }) {
  if (!hasPublicPictures()) return html`<${Fetched} key=${url} path=${pathOf(url)} alt=${alt} />`;
  return html`<img key=${url} src=${address(pathOf(url))} alt=${alt} loading="lazy" decoding="async" />`;
}

/** An image cannot send a header, or be read from a file: its bytes are fetched, and shown from memory. */
function Fetched({ path, alt }) {
  const place = useRef(null);
  useEffect(() => {
    const image = /** @type {HTMLImageElement} */ (/** @type {unknown} */ (place.current));
    waiting.set(image, async () => {
      const response = await send("GET", path).catch((error) => {
        image.alt += `: ${error.message}`;
      });
      if (!response) return;
      const url = URL.createObjectURL(await response.blob());
      image.addEventListener("load", () => URL.revokeObjectURL(url), { once: true });
      image.src = url;
    });
    inView.observe(image);
  }, [path]);
  return html`<img ref=${place} alt=${alt} decoding="async" />`;
}

/**
 * A picture as a button that opens it large. Its address (`url`), alternative text (`alt`) and what was ordered
 * (`recipe`) are known; `all` are those that it stands among, to go through.
 */
export function openablePicture(shown, all = [shown]) {
  const opens = () => openLarge(all, all.indexOf(shown));
  return html`
    <button type="button" class="picture-button" key=${shown.url} aria-label="Open" aria-description=${shown.alt}
      onClick=${opens}>
      ${picture(shown)}
    </button>
  `;
}

/** What else can be done with a picture. */
export function pictureActs(shown) {
  return html`<div class="picture-acts">${savedAndCopied(shown, "quiet")}</div>`;
}

function savedAndCopied({ url }, kind) {
  return [
    actButton("Download", () => save(url), { class: kind }),
    actButton("Copy id", (button) => copy(idOf(url), button), { class: kind }),
  ];
}

function openLarge(all, first) {
  const dialog = document.createElement("dialog");
  dialog.className = "large";
  let at = first;
  const show = (index) => {
    at = (index + all.length) % all.length;
    const shown = all[at];
    dialog.setAttribute("aria-label", shown.alt);
    const step = (name, to) =>
      all.length > 1 && html`<button type="button" key=${name} onClick=${() => show(to)}>${name}</button>`;
    const close = () => dialog.close();
    const view = html`
      ${picture(shown)}
      <div class="large-foot">
        <p onClick=${close}>${idLink(idOf(shown.url))}</p>
        <p>${shown.recipe}</p>
        <div class="buttons push">
          ${step("Previous", at - 1)}${step("Next", at + 1)}${savedAndCopied(shown, "")}
          <button type="button" key="Close" onClick=${close}>Close</button>
        </div>
      </div>
    `;
    render(view, dialog);
  };
  dialog.addEventListener("keydown", ({ key }) => {
    if (key === "ArrowRight" || key === "ArrowLeft") show(at + (key === "ArrowRight" ? 1 : -1));
  });
  dialog.addEventListener("click", ({ target }) => target === dialog && dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  show(at);
  document.body.append(dialog);
  dialog.showModal();
}

async function save(url) {
  const blob = await (await send("GET", pathOf(url))).blob();
  download(blob, `${idOf(url)}.${blob.type.split("/").at(-1)}`);
}

function idOf(url) {
  return (url.split("/").at(-1) ?? "").split(".")[0];
}

function pathOf(url) {
  return `pictures/${url.split("/").at(-1)}`;
}
