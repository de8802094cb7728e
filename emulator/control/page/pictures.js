/** Pictures of the sandbox as images on the page: loaded when they come into view, with the control token where needed. */

import { element } from "./dom.js";
import { address, hasToken, send } from "./service.js";

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
  const path = `pictures/${url.split("/").at(-1)}`;
  if (!hasToken()) return element("img", { src: address(path), alt, loading: "lazy", decoding: "async" });
  const image = element("img", { alt, decoding: "async" });
  waiting.set(image, path);
  inView.observe(image);
  return image;
}

/**
 * An image cannot send a header: its bytes are fetched with the token, and shown from memory.
 * @param {HTMLImageElement} image
 * @param {string} path
 */
async function load(image, path) {
  const response = await send("GET", path);
  const url = URL.createObjectURL(await response.blob());
  image.addEventListener("load", () => URL.revokeObjectURL(url), { once: true });
  image.src = url;
}
