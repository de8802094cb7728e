/**
 * Pictures of the sandbox as images on the page: loaded when they come into view, with the control token where needed;
 * opened large, saved, and their ids copied.
 */

import { actButton, copy, download } from "./acts.js";
import { element } from "./dom.js";
import { idLink } from "./ids.js";
import { address, hasPublicPictures, send } from "./service.js";

/** @type {WeakMap<Element, string>} */
const waiting = new WeakMap();
const inView = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      inView.unobserve(target);
      void load(/** @type {HTMLImageElement} */ (target), waiting.get(target) ?? "");
    }
  },
  { rootMargin: "200px" },
);

/**
 * @param {string} url the address that the control plane gave: its last part names the picture
 * @param {string} alt
 */
export function picture(url, alt) {
  const path = pathOf(url);
  if (hasPublicPictures()) return element("img", { src: address(path), alt, loading: "lazy", decoding: "async" });
  const image = element("img", { alt, decoding: "async" });
  waiting.set(image, path);
  inView.observe(image);
  return image;
}

/**
 * What can be done with a picture: opened large, saved as a file, its id copied.
 * @param {string} url
 * @param {string} alt
 * @param {string} [recipe] what was ordered
 */
export function pictureActs(url, alt, recipe = "") {
  const id = idOf(url);
  const opens = actButton("Open", () => openLarge(url, alt, recipe), { class: "quiet" });
  const copies = actButton("Copy id", () => copy(id, copies), { class: "quiet" });
  const saves = actButton("Download", () => save(url), { class: "quiet" });
  return element("div", { class: "picture-acts" }, opens, saves, copies);
}

/**
 * @param {string} url
 * @param {string} alt
 * @param {string} recipe
 */
function openLarge(url, alt, recipe) {
  const id = idOf(url);
  const dialog = element("dialog", { class: "large", "aria-label": alt, close: () => dialog.remove() });
  const closes = element("button", { type: "button", click: () => dialog.close() }, "Close");
  const leads = element("p", { click: () => dialog.close() }, idLink(id));
  dialog.append(picture(url, alt), element("div", { class: "large-foot" }, leads, element("p", {}, recipe), closes));
  dialog.addEventListener("click", ({ target }) => target === dialog && dialog.close());
  document.body.append(dialog);
  dialog.showModal();
}

/** @param {string} url */
async function save(url) {
  const blob = await (await send("GET", pathOf(url))).blob();
  download(blob, `${idOf(url)}.${blob.type.split("/").at(-1)}`);
}

/** @param {string} url */
function idOf(url) {
  return (url.split("/").at(-1) ?? "").split(".")[0];
}

/** @param {string} url */
function pathOf(url) {
  return `pictures/${url.split("/").at(-1)}`;
}

/**
 * An image cannot send a header, or be read from a file: its bytes are fetched, and shown from memory.
 * @param {HTMLImageElement} image
 * @param {string} path
 */
async function load(image, path) {
  const response = await send("GET", path).catch((/** @type {Error} */ error) => {
    image.alt += `: ${error.message}`;
  });
  if (!response) return;
  const url = URL.createObjectURL(await response.blob());
  image.addEventListener("load", () => URL.revokeObjectURL(url), { once: true });
  image.src = url;
}
