/**
 * The page as a whole: its tabs, the connection, the control token, and who looks again when something has changed.
 * Knows the regions by their list only.
 */

import { share } from "./events.js";
import { offerToOpen } from "./file.js";
import { beginReading, Fresh } from "./fresh.js";
import { readPlace } from "./places.js";
import { REGIONS } from "./regions.js";
import { ask, onTokenNeeded, Refusal, referenceAddress, sandboxId } from "./service.js";
import { forgetAnswers, noteChange, noteGap, sandbox } from "./store.js";
import * as strip from "./strip.js";
import { askForToken } from "./token.js";
import { actButton, announce, byId, dismissRefusal, html, render } from "./ui.js";

/** A region on the page, behind its tab or beside the others. */
class Shown extends Fresh {
  constructor(file) {
    const slug = file.slug ?? file.name.toLowerCase();
    const id = file.name.toLowerCase();
    const section = document.createElement("section");
    for (const [key, value] of Object.entries({ class: "region", id, "aria-label": file.name }))
      section.setAttribute(key, value);
    const region = file.create(section);
    super(file.concerns, () => region.refresh());
    this.region = region;
    this.file = file;
    this.slug = slug;
    /** What the page's address says while it is shown: a tab leads back to where one was. */
    this.place = slug;
    this.isHidden = file.isOnDemand ?? false;
    this.isCurrent = false;
    this.id = id;
    this.panel = document.createElement("div");
    this.panel.id = `panel-${id}`;
    this.panel.append(section);
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
const fixed = new Fresh(strip.concerns, strip.create(byId("strip")));
const all = [...shown, fixed];
/** The methods that change nothing. */
const READS = ["GET", "HEAD"];
/** The regions that a file holds; null while the emulator is shown. @type {string[] | null} */
let held = null;
const stop = new AbortController();
const wide = matchMedia("(min-width: 70rem)");

/** Go to a region as it was left. */
function go(one) {
  if (location.hash.slice(1) !== one.place) history.pushState(null, "", `#${one.place}`);
  bringForward(one);
}

/** Show what the page's address names: a region, something in one, as in `requests/12`, or a thing, as in `/gen_…`. */
function showPlace() {
  const { slug, rest, filters } = readPlace(location.hash);
  const open = shown.filter(isOffered);
  const named = open.find((one) => one.slug === slug && (slug || rest)) ?? open[0];
  named.place = named.slug === slug ? location.hash.slice(1) : named.slug;
  named.isHidden = false;
  if (named.region.open?.(rest, filters)) named.invalidate();
  bringForward(named);
}

/** Whether a region has something to show: of a file only what it holds, and what is about that. */
function isOffered(one) {
  return held === null || held.includes(one.file.name) || one.file.isOnDemand;
}

/** Bring a region to light, unless it is beside the others already. */
function bringForward(named) {
  const inMain = (one) => isOffered(one) && !(wide.matches && isDocked(one));
  const last = shown.find((one) => one.isCurrent && inMain(one));
  const current = inMain(named) ? named : (last ?? shown.find(inMain) ?? named);
  // What was refused there is no news here.
  if (!current.isCurrent) dismissRefusal();
  for (const one of shown) {
    one.isCurrent = one === current;
    one.panel.className = `panel panel-${one.file.place} ${one.isCurrent ? "is-current" : ""}`;
  }
  drawTabs();
  tabOf(current)?.scrollIntoView({ block: "nearest", inline: "nearest" });
  showWhetherMoreFollow();
  lookAgain();
}

/** Whether a region is beside the others where there is room. */
function isDocked(one) {
  return one.file.place === "side";
}

function drawTabs() {
  const tab = (one) => html`
    <button type="button" role="tab" id=${`tab-${one.id}`} class=${`tab tab-${one.file.place}`} hidden=${one.isHidden}
      aria-controls=${`panel-${one.id}`} aria-selected=${one.isCurrent} tabindex=${one.isCurrent ? 0 : -1}
      onClick=${() => go(one)}>${one.file.name}</button>
  `;
  render(shown.map(tab), byId("tabs"));
}

/** Fade the end of the tabs where some follow beyond it. */
function showWhetherMoreFollow() {
  const tabs = byId("tabs");
  tabs.classList.toggle("has-more", tabs.scrollLeft + tabs.clientWidth < tabs.scrollWidth - 1);
}

function tabOf(one) {
  return document.getElementById(`tab-${one.id}`);
}

/** Some regions may have come to light. */
function lookAgain() {
  for (const one of shown) one.show();
  void fixed.catchUp();
}

function build() {
  for (const one of shown) byId(one.file.place === "main" ? "main-column" : "side-column").append(one.panel);
  byId("tabs").addEventListener("keydown", moveBetweenTabs);
  byId("tabs").addEventListener("scroll", showWhetherMoreFollow, { passive: true });
  addEventListener("resize", showWhetherMoreFollow);
  document.addEventListener("keydown", leaveByEscape);
  document.addEventListener("keydown", search);
  byId("reference-link").setAttribute("href", referenceAddress().href);
  addEventListener("hashchange", showPlace);
  addEventListener("popstate", showPlace);
  wide.addEventListener("change", showPlace);
  document.addEventListener("visibilitychange", lookAgain);
  // What shows requests too looks again once the journal was read.
  document.addEventListener("journal", (event) => {
    if (/** @type {CustomEvent} */ (event).detail.isFirst) return;
    for (const one of all) one.hear("journal");
  });
  document.addEventListener("left", (event) => {
    const { slug, place } = /** @type {CustomEvent} */ (event).detail;
    const left = shown.find((one) => one.slug === slug);
    if (left) left.place = place.slice(1);
  });
  offerToOpen(byId("open-file"));
  // A file that misses the gallery must not take the place of the page.
  for (const kind of ["dragover", "drop"]) addEventListener(kind, (event) => event.preventDefault());
}

function moveBetweenTabs(event) {
  const tabs = [...byId("tabs").querySelectorAll("button")].filter((tab) => tab.offsetParent !== null);
  const at = tabs.indexOf(/** @type {HTMLButtonElement} */ (document.activeElement));
  const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
  if (at < 0 || to === undefined) return;
  event.preventDefault();
  const tab = tabs[(to + tabs.length) % tabs.length];
  tab.click();
  tab.focus();
}

/** Escape leads from what is in a region to the tabs, unless it has a meaning there. */
function leaveByEscape(event) {
  const isMeant = event.key === "Escape" && !event.defaultPrevented && event.target instanceof Element;
  if (!isMeant || !event.target.matches("body, main *") || event.target.matches("select, textarea, [type=search]"))
    return;
  /** @type {HTMLElement | null} */ (byId("tabs").querySelector("[aria-selected=true]"))?.focus();
}

/** `/` leads to the search of the requests. */
function search(event) {
  const isTyped = event.target instanceof Element && event.target.matches("input, select, textarea, dialog *");
  if (event.key !== "/" || isTyped || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  go(shown[0]);
  byId("requests-search").focus();
}

/** @param {string | null} reason why the connection is lost; null where it is there */
function showConnection(reason) {
  const sign = html`<span class="connection-sign" aria-hidden="true">⚠</span>`;
  render(reason && html`<p class="connection" role="status">${sign}${reason}</p>`, byId("connection"));
}

async function showFacts() {
  const [{ version }, { base_url: baseUrl }] = await Promise.all([ask("GET", "/health"), sandbox.get()]);
  const chip = sandboxId() !== "default" && html`<span class="chip" title=${sandboxId()}>Sandbox ${sandboxId()}</span>`;
  render(html`<code>${baseUrl}</code>${chip}<span class="faint">${version}</span>`, byId("facts"));
}

/** Offer ways out where there is no such sandbox; the rest of the page has nothing to show. */
function offerWayOut() {
  render(null, byId("facts"));
  showConnection(null);
  document.documentElement.classList.add("is-alone");
  stop.abort();
  const others = new URL(location.href);
  others.searchParams.delete("sandbox");
  const create = async () => {
    await ask("POST", "/sandboxes", { json: { id: sandboxId() } });
    location.reload();
  };
  const view = html`
    <h2>There is no sandbox ${sandboxId()}</h2>
    <p>It was deleted, or the emulator was started again since.</p>
    <p class="buttons">
      ${actButton(`Create ${sandboxId()}`, create)}<a class="button" href=${others.href}>Show the sandbox default</a>
    </p>
  `;
  render(view, byId("alone"));
}

function hear(event) {
  const { kind, data } = event;
  for (const one of shown) one.region.hear?.(event);
  if (kind === "gap") noteGap();
  for (const one of kindsOf(kind, data)) {
    noteChange(one, data);
    for (const fresh of all) fresh.hear(one);
  }
}

/** What an event means: an arrival concerns the journal alone, and a request that only reads changes nothing. */
function kindsOf(kind, data) {
  if (kind !== "request") return [kind];
  if (data.duration_ms === null) return [];
  return READS.includes(data.method) ? ["request"] : ["request", "write"];
}

/** Show a file in the place of the emulator, until the page is loaded again. */
function showSession({ name, regions, answers, note }) {
  stop.abort();
  held = regions;
  showConnection(null);
  document.documentElement.classList.add("is-session");
  document.documentElement.classList.toggle(
    "has-side",
    shown.some((one) => isDocked(one) && isOffered(one)),
  );
  byId("strip").hidden = !answers.clock || !answers.scenario;
  for (const one of shown) {
    one.isHidden = !regions.includes(one.file.name);
    one.panel.hidden = !isOffered(one);
    one.place = one.slug;
  }
  const facts = ["read only", note].filter(Boolean).join(", ");
  const close = actButton("Close file", () => location.reload(), { class: "button-small" });
  render(html`<strong>${name}</strong><span>${facts}</span>${close}`, byId("facts"));
  forgetAnswers();
  hear({ kind: "session", data: {} });
  history.replaceState(null, "", `#${regions[0].toLowerCase()}`);
  showPlace();
  beginReading();
  for (const one of all) one.invalidate();
}

onTokenNeeded(askForToken);
document.addEventListener("session", (event) => showSession(/** @type {CustomEvent} */ (event).detail));
build();
showPlace();
showFacts().catch((error) => {
  if (error instanceof Refusal && error.status === 404) offerWayOut();
});
share(
  {
    heard: hear,
    connected: (isAgain) => {
      showConnection(null);
      dismissRefusal("[data-unreachable]");
      beginReading();
      if (!isAgain) return lookAgain();
      announce("Connected again");
      noteGap();
      for (const one of all) one.invalidate();
    },
    lost: (reason) => {
      showConnection(reason);
      beginReading();
      lookAgain();
    },
    gone: offerWayOut,
  },
  stop.signal,
);
