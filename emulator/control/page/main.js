/**
 * The page as a whole: its tabs, the connection, the control token, and who looks again when something has changed.
 * Knows the regions by their list only.
 */

import { announce, byId, element, fill, setText } from "./dom.js";
import { listen } from "./events.js";
import { REGIONS } from "./regions.js";
import { ask, onTokenNeeded, Refusal, referenceAddress, sandboxId, shownSandbox } from "./service.js";
import { askForToken } from "./token.js";

const SHORTEST_PAUSE_MS = 400;

/**
 * A region on the page: refreshed when it is seen and something it shows has changed, at most every 400 ms.
 */
class Shown {
  /** @param {import("./regions.js").RegionFile} file */
  constructor(file) {
    this.file = file;
    this.slug = file.name.toLowerCase();
    /** What the page's address says while it is shown: a tab leads back to where one was. */
    this.place = this.slug;
    this.tab = element(
      "button",
      {
        type: "button",
        role: "tab",
        id: `tab-${this.slug}`,
        class: `tab tab-${file.place}`,
        "aria-controls": `panel-${this.slug}`,
        click: () => go(this),
      },
      file.name,
    );
    this.section = element("section", { class: "region", id: this.slug, "aria-label": file.name });
    this.panel = element("div", { class: `panel panel-${file.place}`, id: `panel-${this.slug}` }, this.section);
    this.region = file.create(this.section);
    this.isStale = true;
    this.isAtIt = false;
  }

  get isVisible() {
    return this.panel.offsetParent !== null;
  }

  /** It may have come to light. */
  show() {
    if (this.file.concerns.includes("shown")) this.invalidate();
    else void this.catchUp();
  }

  /** Something that it shows has changed. */
  invalidate() {
    this.isStale = true;
    void this.catchUp();
  }

  /** Look again, if that is worth while. */
  async catchUp() {
    if (this.isAtIt || !this.isStale || !this.isVisible || document.hidden) return;
    this.isAtIt = true;
    this.isStale = false;
    const pause = new Promise((resolve) => setTimeout(resolve, SHORTEST_PAUSE_MS));
    try {
      await this.region.refresh();
    } catch (error) {
      if (!(error instanceof Refusal)) console.warn(error);
    }
    await pause;
    this.isAtIt = false;
    void this.catchUp();
  }
}

const shown = REGIONS.map((file) => new Shown(file));
const wide = matchMedia("(min-width: 70rem)");

/**
 * Go to a region as it was left.
 * @param {Shown} one
 */
function go(one) {
  if (location.hash.slice(1) !== one.place) history.pushState(null, "", `#${one.place}`);
  bringForward(one);
}

/** Show what the page's address names: a region, or something in one, as in `requests/12`. */
function showPlace() {
  const place = decodeURIComponent(location.hash.slice(1));
  const [slug, ...rest] = place.split("/");
  const named = shown.find((one) => one.slug === slug) ?? shown[0];
  named.place = place || named.slug;
  bringForward(named);
  named.region.open?.(rest.join("/"));
}

/**
 * Bring a region to light, unless it is beside the others already.
 * @param {Shown} named
 */
function bringForward(named) {
  const isDocked = (/** @type {Shown} */ one) => wide.matches && one.file.place === "side";
  const last = shown.find((one) => one.tab.getAttribute("aria-selected") === "true" && !isDocked(one));
  const current = isDocked(named) ? (last ?? shown[0]) : named;
  for (const one of shown) {
    const isCurrent = one === current;
    one.panel.classList.toggle("is-current", isCurrent);
    one.tab.setAttribute("aria-selected", String(isCurrent));
    one.tab.tabIndex = isCurrent ? 0 : -1;
    if (isCurrent) one.tab.scrollIntoView({ block: "nearest", inline: "nearest" });
  }
  lookAgain();
}

/** Some regions may have come to light. */
function lookAgain() {
  for (const one of shown) one.show();
}

function build() {
  fill(
    byId("tabs"),
    shown.map((one) => one.tab),
  );
  for (const one of shown) byId(one.file.place === "main" ? "main-column" : "side-column").append(one.panel);
  byId("tabs").addEventListener("keydown", moveBetweenTabs);
  byId("reference-link").setAttribute("href", referenceAddress().href);
  addEventListener("hashchange", showPlace);
  addEventListener("popstate", showPlace);
  wide.addEventListener("change", showPlace);
  document.addEventListener("visibilitychange", lookAgain);
}

/** @param {KeyboardEvent} event */
function moveBetweenTabs(event) {
  const tabs = shown.map((one) => one.tab).filter((tab) => tab.offsetParent !== null);
  const at = tabs.indexOf(/** @type {HTMLButtonElement} */ (document.activeElement));
  const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
  if (at < 0 || to === undefined) return;
  event.preventDefault();
  const tab = tabs[(to + tabs.length) % tabs.length];
  tab.click();
  tab.focus();
}

/** @param {string | null} reason why the connection is lost; null where it is there */
function showConnection(reason) {
  const text = reason && [element("span", { class: "connection-sign", "aria-hidden": "true" }, "⚠"), reason];
  if (text) fill(byId("connection"), element("p", { class: "connection", role: "status" }, ...text));
  else byId("connection").replaceChildren();
  document.documentElement.classList.toggle("is-lost", reason !== null);
}

async function showFacts() {
  const [{ version }, { base_url: baseUrl, readings }] = await Promise.all([ask("GET", "/health"), shownSandbox()]);
  const sandbox =
    sandboxId() === "default" ? null : element("span", { class: "chip", title: sandboxId() }, `Sandbox ${sandboxId()}`);
  const badge = readings.length === 0 ? null : element("span", { class: "chip", title: readings.join("\n") }, "Other readings");
  fill(byId("facts"), element("code", {}, baseUrl), sandbox, badge, element("span", { class: "faint" }, version));
}

/** @param {import("./events.js").LiveEvent} event */
function hear(event) {
  for (const one of shown) {
    one.region.hear?.(event);
    // After a gap it is unknown what has changed.
    if (event.kind === "gap" || one.file.concerns.includes(event.kind)) one.invalidate();
  }
}

onTokenNeeded(askForToken);
build();
showPlace();
showFacts().catch(() => setText(byId("facts"), ""));
void listen(
  {
    heard: hear,
    connected: (isAgain) => {
      showConnection(null);
      if (isAgain) announce("Connected again");
      for (const one of shown) one.invalidate();
    },
    lost: showConnection,
  },
  new AbortController().signal,
);
