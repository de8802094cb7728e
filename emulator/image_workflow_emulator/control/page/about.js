/** The region `About ID`: all that is known about one thing, wherever it is named. */

import { creditsOverTime, readLedger } from "./credits.js";
import { altOf } from "./gallery.js";
import { json } from "./ids.js";
import { ending, journal, journalWasRead } from "./journal.js";
import { orderOf, titleOf } from "./orders.js";
import { openablePicture, pictureActs } from "./pictures.js";
import { ask } from "./service.js";
import * as store from "./store.js";
import { tick } from "./time.js";
import { actButton, badge, copy, html, part, render } from "./ui.js";
import { sentence, timeOfDay } from "./words.js";
import { Article } from "./work.js";

export const name = "About";
/** What follows the first `#` of an address is `/ID`. */
export const slug = "";
export const isOnDemand = true;
export const place = "main";
export const concerns = ["request", "journal", "work", "team", "reset", "cleared"];

const MAX_SHOWN_REQUESTS = 100;

export function create(panel) {
  let id = "";
  /** How many pages of a Team's ledger are shown. */
  let pages = 1;

  function draw(name, kind, content) {
    const title = name ? html`<bdi>${name}</bdi>` : html`<code>${id}</code>`;
    const view = html`
      <div class="region-head">
        <h2>About ${title}</h2>
        <p class="faint">${kind}${name && html` <code>${id}</code>`}</p>
        ${actButton("Copy id", (button) => copy(id, button), { class: "quiet" })}
      </div>
      <div class="about">${content}</div>
    `;
    render(view, panel);
  }

  async function refresh() {
    if (!id) return;
    const wanted = id;
    const [works, assets, teams] = await Promise.all([
      store.works.get(),
      store.assets.get(),
      store.teams.get(),
      store.clock.get(),
      journalWasRead,
    ]);
    const named = journal.naming(wanted);
    const answered = named.findLast((entry) => entry.made === wanted && (entry.status ?? 500) < 300);
    const answer = answered && (await ask("GET", `requests/${answered.sequence}`).catch(() => null));
    if (wanted !== id) return;
    const touches = (thing) => JSON.stringify(thing).includes(wanted);
    const asset = assets.find((one) => one.id === wanted);
    const team = teams.find(touches);
    const ledger = team && (await readLedger(team.id, pages).catch(() => null));
    if (wanted !== id) return;
    const touching = team?.id === wanted ? [] : works.filter(touches);
    const made = answer?.response_body;
    const isKnown = touching.length + named.length > 0 || asset || team;
    const object =
      made?.object ?? (asset ? "asset" : team ? "team" : touching[0]?.id === wanted ? touching[0].object : "");
    draw(nameOf(wanted, { made, team, works: touching }), sentence(object), [
      !isKnown && html`<p>Nothing of this sandbox has this id.</p>`,
      asset && shownAsset(asset, touching),
      ledger && part("Credits", creditsOverTime(team, ledger, more)),
      touching.length > 0 && part("Work", html`<div class="works">${touching.map(article)}</div>`),
      named.length > 0 && part("Requests", requests(named)),
      made && part("As it was last answered", json(made, "Answer")),
    ]);
    tick();
  }

  function more() {
    pages += 1;
    return refresh();
  }

  return {
    refresh,
    open(wanted) {
      if (wanted === id) return false;
      id = wanted;
      pages = 1;
      panel.setAttribute("aria-label", `About ${id}`);
      draw("", "", null);
      return true;
    },
  };
}

/** What people call a thing; empty for one that has no name. */
function nameOf(id, { made, team, works }) {
  if (team?.id === id) return team.name;
  if (typeof made?.name === "string") return made.name;
  const work = works.find((one) => one.id === id);
  if (work) return titleOf(work);
  return works.map(({ names }) => names?.[id]).find(Boolean) ?? "";
}

function article(work) {
  return html`<${Article} key=${work.id} work=${work} />`;
}

function shownAsset(asset, works) {
  const shown = { url: asset.url, alt: altOf(asset) };
  const maker = works.find((work) => work.id === asset.source_generation_id);
  const { format, width, height, source, team } = asset;
  return html`
    <div class="about-asset">
      <div class="picture-frame">${openablePicture(shown)}</div>
      <div>
        <p>${format.toUpperCase()}, ${width} × ${height}, ${source}, of ${team.name}</p>
        ${pictureActs(shown)}${maker && orderOf(maker)}
      </div>
    </div>
  `;
}

/** @param {any[]} named oldest first */
function requests(named) {
  const row = (entry) => {
    const { kind, sign } = ending(entry);
    return html`
      <tr key=${entry.sequence}>
        <td>${badge(kind, sign, entry.status ?? "—")}</td>
        <td><a href=${`#requests/${entry.sequence}`}>#${entry.sequence} ${entry.name}</a></td>
        <td>${entry.code && html`<span class="code">${entry.code}</span>`}</td>
        <td dir="auto">${entry.team}</td>
        <td><time datetime=${entry.at}>${timeOfDay(entry.at)}</time></td>
      </tr>
    `;
  };
  return html`
    <table class="about-requests">
      <caption class="visually-hidden">The newest first</caption>
      <tbody>${named.slice(-MAX_SHOWN_REQUESTS).reverse().map(row)}</tbody>
    </table>
  `;
}
