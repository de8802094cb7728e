/** The region `About ID`: all that is known about one thing, wherever it is named. */

import { creditsOverTime, readLedger } from "./credits.js";
import { altOf } from "./gallery.js";
import { json } from "./ids.js";
import { ending } from "./journal.js";
import { orderOf } from "./orders.js";
import { picture, pictureActs } from "./pictures.js";
import { journal } from "./requests.js";
import { ask } from "./service.js";
import { tick } from "./time.js";
import { actButton, badge, copy, html, part, render } from "./ui.js";
import { sentence, timeOfDay } from "./words.js";
import { Article } from "./work.js";

export const name = "About";
/** What follows the first `#` of an address is `/ID`. */
export const slug = "";
export const isOnDemand = true;
export const place = "main";
export const concerns = ["request", "work", "team", "clock", "reset", "cleared"];

const MOST = 1000;
const MAX_SHOWN_REQUESTS = 100;

export function create(panel) {
  let id = "";
  /** How many pages of a Team's ledger are shown. */
  let pages = 1;

  function draw(kind, content) {
    const view = html`
      <div class="region-head">
        <h2>About <code>${id}</code></h2>
        <p class="faint">${kind}</p>
        ${actButton("Copy id", (button) => copy(id, button), { class: "quiet" })}
      </div>
      <div class="about">${content}</div>
    `;
    render(view, panel);
  }

  async function refresh() {
    if (!id) return;
    const wanted = id;
    const query = { limit: MOST };
    const [{ data: allWork }, { data: assets }, { data: teams }] = await Promise.all([
      ask("GET", "work", { query }),
      ask("GET", "assets", { query }),
      ask("GET", "teams"),
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
    const works = team?.id === wanted ? [] : allWork.filter(touches);
    const made = answer?.response_body;
    const isKnown = works.length + named.length > 0 || asset || team;
    const object = made?.object ?? (asset ? "asset" : team ? "team" : works[0]?.id === wanted ? works[0].object : "");
    draw(sentence(object), [
      !isKnown && html`<p>Nothing of this sandbox has this id.</p>`,
      asset && shownAsset(asset, works),
      ledger && part("Credits", creditsOverTime(team, ledger, more)),
      works.length > 0 && part("Work", html`<div class="works">${works.map(article)}</div>`),
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
      if (wanted === id) return;
      id = wanted;
      pages = 1;
      panel.setAttribute("aria-label", `About ${id}`);
      draw("", null);
      void refresh().catch(() => {});
    },
  };
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
      <div class="picture-frame">${picture(shown)}</div>
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
