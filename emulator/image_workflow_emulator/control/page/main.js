/**
 * The page as a whole: its tabs, the connection, the control token, and who looks again when something has changed.
 * Knows the regions by their list only.
 */

import { actButton, forgetUnreachable } from "./acts.js";
import { announce, byId, element, fill, setText } from "./dom.js";
import { listen } from "./events.js";
import { offerToOpen } from "./file.js";
import { Fresh } from "./fresh.js";
import { readPlace } from "./places.js";
import { REGIONS } from "./regions.js";
import { ask, onTokenNeeded, Refusal, referenceAddress, sandboxId, shownSandbox } from "./service.js";
import * as strip from "./strip.js";
import { askForToken } from "./token.js";

/** A region on the page, behind its tab or beside the others. */
class Shown extends Fresh {
  /** @param {import("./regions.js").RegionFile} file */
  constructor(file) {
    const slug = file.slug ?? file.name.toLowerCase();
    const id = file.name.toLowerCase();
    const section = element("section", { class: "region", id, "aria-label": file.name });
    const region = file.create(section);
    super(file.concerns, () => region.refresh());
    this.region = region;
    this.file = file;
    this.slug = slug;
    /** What the page's address says while it is shown: a tab leads back to where one was. */
    this.place = slug;
    this.tab = element(
      "button",
      {
        type: "button",
        role: "tab",
        id: `tab-${id}`,
        class: `tab tab-${file.place}`,
        "aria-controls": `panel-${id}`,
        hidden: file.isOnDemand,
        click: () => go(this),
      },
      file.name,
    );
    this.panel = element("div", { class: `panel panel-${file.place}`, id: `panel-${id}` }, section);
  }

  get isVisible() {
    return this.file.isAlwaysFresh || this.panel.offsetParent !== null;
  }

  /** It may have come to light. */
  show() {
    if (this.file.concerns.includes("shown")) this.invalidate();
    else void this.catchUp();
  }
}

const shown = REGIONS.map((file) => new Shown(file));
const all = [...shown, new Fresh(strip.concerns, strip.create(byId("strip")))];
const stop = new AbortController();
const wide = matchMedia("(min-width: 70rem)");

/**
 * Go to a region as it was left.
 * @param {Shown} one
 */
function go(one) {
  if (location.hash.slice(1) !== one.place) history.pushState(null, "", `#${one.place}`);
  bringForward(one);
}

/** Show what the page's address names: a region, something in one, as in `requests/12`, or a thing, as in `/gen_…`. */
function showPlace() {
  const { slug, rest, filters } = readPlace(location.hash);
  const named = shown.find((one) => one.slug === slug && (slug || rest)) ?? shown[0];
  named.place = location.hash.slice(1) || named.slug;
  named.tab.hidden = false;
  named.region.open?.(rest, filters);
  bringForward(named);
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
  document.addEventListener("keydown", leaveByEscape);
  byId("reference-link").setAttribute("href", referenceAddress().href);
  addEventListener("hashchange", showPlace);
  addEventListener("popstate", showPlace);
  wide.addEventListener("change", showPlace);
  document.addEventListener("visibilitychange", lookAgain);
  // What shows requests too looks again once the journal was read.
  document.addEventListener("journal", () => {
    for (const one of all) one.hear("request");
  });
  offerToOpen(byId("open-file"));
  // A file that misses the gallery must not take the place of the page.
  for (const kind of ["dragover", "drop"]) addEventListener(kind, (event) => event.preventDefault());
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

/**
 * Escape leads from what is in a region to the tabs, unless it has a meaning there.
 * @param {KeyboardEvent} event
 */
function leaveByEscape(event) {
  const isMeant = event.key === "Escape" && !event.defaultPrevented && event.target instanceof Element;
  if (!isMeant || !event.target.matches("body, main *") || event.target.matches("select, textarea, [type=search]"))
    return;
  shown.find((one) => one.tab.tabIndex === 0)?.tab.focus();
}

/** @param {string | null} reason why the connection is lost; null where it is there */
function showConnection(reason) {
  const text = reason && [element("span", { class: "connection-sign", "aria-hidden": "true" }, "⚠"), reason];
  if (text) fill(byId("connection"), element("p", { class: "connection", role: "status" }, ...text));
  else byId("connection").replaceChildren();
}

async function showFacts() {
  const [{ version }, { base_url: baseUrl }] = await Promise.all([ask("GET", "/health"), shownSandbox()]);
  const sandbox =
    sandboxId() === "default" ? null : element("span", { class: "chip", title: sandboxId() }, `Sandbox ${sandboxId()}`);
  fill(byId("facts"), element("code", {}, baseUrl), sandbox, element("span", { class: "faint" }, version));
}

/**
 * Offer ways out where there is no such sandbox; the rest of the page has nothing to show.
 * @param {unknown} error
 */
function offerWayOut(error) {
  setText(byId("facts"), "");
  if (!(error instanceof Refusal) || error.status !== 404) return;
  document.documentElement.classList.add("is-alone");
  stop.abort();
  const others = new URL(location.href);
  others.searchParams.delete("sandbox");
  byId("alone").append(
    element("h2", {}, `There is no sandbox ${sandboxId()}`),
    element("p", {}, "It was deleted, or the emulator was started again since."),
    element(
      "p",
      { class: "buttons" },
      actButton(`Create ${sandboxId()}`, async () => {
        await ask("POST", "/sandboxes", { json: { id: sandboxId() } });
        location.reload();
      }),
      element("a", { class: "button", href: others.href }, "Show the sandbox default"),
    ),
  );
}

/** @param {import("./events.js").LiveEvent} event */
function hear(event) {
  for (const one of shown) one.region.hear?.(event);
  for (const one of all) one.hear(event.kind);
}

/**
 * Show a file in the place of the emulator, until the page is loaded again.
 * @param {import("./session.js").Session & {name: string}} session
 */
function showSession({ name, regions, answers, note }) {
  stop.abort();
  showConnection(null);
  document.documentElement.classList.add("is-session");
  byId("strip").hidden = !answers.clock;
  for (const one of shown) one.tab.hidden = !regions.includes(one.file.name);
  const close = actButton("Close file", () => location.reload(), { class: "button-small" });
  fill(
    byId("facts"),
    element("strong", {}, name),
    element("span", {}, ["read only", note].filter(Boolean).join(", ")),
    close,
  );
  hear({ kind: "reset", data: {} });
  for (const one of all) one.invalidate();
  location.hash = `#${regions[0].toLowerCase()}`;
}

onTokenNeeded(askForToken);
document.addEventListener("session", (event) => showSession(/** @type {CustomEvent} */ (event).detail));
build();
showPlace();
showFacts().catch(offerWayOut);
void listen(
  {
    heard: hear,
    connected: (isAgain) => {
      showConnection(null);
      if (isAgain) announce("Connected again");
      forgetUnreachable();
      for (const one of all) one.invalidate();
    },
    lost: showConnection,
  },
  stop.signal,
);
