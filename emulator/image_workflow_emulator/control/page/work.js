/**
 * The region `Work`: Operations and Generations on their way, slot by slot, with what they cost and what became of them.
 */

import { idLink } from "./ids.js";
import { journal } from "./journal.js";
import { kindOf, orderOf, recipeOf, titleOf } from "./orders.js";
import { openablePicture, pictureActs } from "./pictures.js";
import { changePlace, chips, placeOf } from "./places.js";
import { StillList } from "./still.js";
import { clock, works } from "./store.js";
import { onTick, tick } from "./time.js";
import { Timeline } from "./timeline.js";
import { badge, empty, field, head, html, options, render, setText, useState } from "./ui.js";
import { counted, duration, timeOfDay } from "./words.js";

export const name = "Work";
export const place = "main";
/** Of requests it shows what the journal has: none is read for it. */
export const concerns = ["work", "write", "request", "journal", "clock", "reset"];

const LIMIT = 200;
const SIGNS = { queued: "◷", pending: "◷", processing: "◐", completed: "✓", failed: "✕" };
const KINDS = { queued: "waiting", pending: "waiting", processing: "again", completed: "good", failed: "failed" };

export function create(panel) {
  let wanted = "";
  let state = "";

  const list = new StillList(draw);

  const filterBy = (state) => changePlace(placeOf("work", { state }));

  function draw() {
    const all = (works.last ?? []).slice(0, LIMIT);
    const unfinished = all.filter((work) => !isFinal(work.status)).length;
    const fitting = all.filter((work) => !state || work.status === state);
    const articles = list.shown(fitting).map((work) => html`<${Article} key=${work.id} work=${work} />`);
    const count = all.length > 0 && counted(all.length, "piece") + (unfinished ? `, ${unfinished} unfinished` : "");
    const choice = html`
      <select id="work-state" value=${state} onChange=${(event) => filterBy(event.target.value)}>
        ${options([["", "any"], "queued", "processing", "completed", "failed"])}
      </select>
    `;
    const first = html`See some at once: <a href="#gallery">first photoshoot</a>.`;
    const view = [
      head(
        name,
        html`<p class="count faint">${count}</p>`,
        chips(state ? [{ text: `state ${state}`, remove: () => filterBy("") }] : []),
        field("State", "work-state", choice, "field-row push"),
      ),
      list.view("works", articles),
      works.last?.length === 0 &&
        empty("No work yet", "Generations and Operations appear here as soon as they are admitted.", first),
      all.length > 0 && fitting.length === 0 && empty("Nothing matches", `No work is ${state}.`),
    ];
    render(view, panel);
    reveal();
  }

  async function refresh() {
    await Promise.all([works.get(), clock.get()]);
    draw();
    tick();
  }

  function reveal() {
    const article = wanted && document.getElementById(`work-${wanted}`);
    if (!article) return;
    wanted = "";
    article.scrollIntoView({ block: "center" });
    article.focus({ preventScroll: true });
  }

  return {
    refresh,
    open(id, filters) {
      wanted = id;
      const isOther = state !== (filters.state ?? "");
      state = filters.state ?? "";
      if (isOther) list.renew();
      else draw();
    },
  };
}

function isFinal(status) {
  return status === "completed" || status === "failed";
}

/** How work ended or goes on, as a badge. */
function stateOf({ status, outputs = [] }) {
  const failed = outputs.filter((output) => output.status === "failed").length;
  if (status === "completed" && failed > 0)
    return badge("failed", SIGNS.failed, `${failed} of ${outputs.length} failed`);
  return badge(KINDS[status], SIGNS[status], status);
}

export function Article({ work }) {
  const [isOpen, open] = useState(!isFinal(work.status));
  const slots = slotsOf(work);
  const took = work.finished_at && Date.parse(work.finished_at) - Date.parse(work.created_at);
  const pictures = slots.flatMap((slot) => (slot.url ? [shownOf(slot, work)] : []));
  const { rule } = work;
  const place = rule?.file && html`<code>${rule.line ? `${rule.file}, line ${rule.line}` : rule.file}</code>`;
  return html`
    <article class="work" id=${`work-${work.id}`} tabindex="-1" aria-label=${`${titleOf(work)} ${work.id}`}>
      <div class="work-head">
        <div class="work-title">
          <h3 dir="auto">${titleOf(work)}</h3>
          <p class="faint work-line">
            <code>${work.workflow ?? work.type}</code>${idLink(work.id)}
            <span dir="auto">${work.team.name}</span>
            <time datetime=${work.created_at} title=${work.created_at}>${timeOfDay(work.created_at)}</time>
            ${took !== null && html`<span>took ${duration(took)}</span>`}
          </p>
        </div>
        <div class="work-facts">
          <span class="tag">reserved ${work.credits.reserved}</span>
          <span class="tag">charged ${work.credits.charged ?? 0}</span>
          ${stateOf(work)}
          ${work.request && html`<a class="button button-small" href=${`#requests/${work.request}`}>Request</a>`}
        </div>
        ${orderOf(work)}
      </div>
      <div class="slots">${slots.map((slot) => slotTile(slot, work, pictures))}</div>
      ${work.error && slots.length === 0 && problem(work.error)}
      ${rule && html`<p class="work-rule"><span class="tag tag-rule">Scenario</span> Rule ${rule.name} ${place}</p>`}
      <details class="work-timeline" role="group" aria-label="Timeline" open=${isOpen}
        onToggle=${(event) => open(event.currentTarget.open)}>
        <summary>Timeline</summary>
        ${isOpen && html`<${Timeline} work=${work} />`}
      </details>
    </article>
  `;
}

function slotsOf(work) {
  if (work.outputs) return work.outputs;
  const { status, finishes_at = null, error = null, pictures = [] } = work;
  return [{ slot: 0, status, finishes_at, error, asset_id: null, url: pictures[0] ?? null }];
}

function problem({ code, message }) {
  return html`<p class="slot-error"><code>${code}</code><span>${message}</span></p>`;
}

function nameOf({ slot }, work) {
  return slot ? `Output ${slot} of ${work.outputs?.length}` : "Result";
}

function shownOf(slot, work) {
  const alt = `${nameOf(slot, work)}: ${kindOf(work)}, ${work.team.name}`;
  return { url: slot.url ?? "", alt, recipe: recipeOf(work) };
}

function slotTile(slot, work, pictures) {
  const shown = pictures.find(({ url }) => url === slot.url);
  const label = slot.slot ? `Output ${slot.slot}` : "Result";
  const sign = isFinal(slot.status) && !slot.error ? "–" : SIGNS[slot.status];
  const waits = () =>
    slot.finishes_at ? lane(slot, work) : html`<span class="faint">stalled: it never ends by itself</span>`;
  const ended = () => [
    slot.asset_id && idLink(slot.asset_id),
    shown && pictureActs(shown),
    slot.error && problem(slot.error),
  ];
  return html`
    <div key=${slot.slot} class=${`slot slot-${slot.status}`} data-slot=${slot.slot}>
      <div class="slot-picture">
        ${shown ? openablePicture(shown, pictures) : html`<span class="slot-sign" aria-hidden="true">${sign}</span>`}
      </div>
      <div class="slot-text">
        <span class="slot-label">${label}${" "}
          <span class="faint slot-wait" key=${slot.status}>${slot.status}</span></span>
        ${isFinal(slot.status) ? ended() : waits()}
      </div>
    </div>
  `;
}

/** The time of a slot from the order to its end, on the scale of all slots, with a tick for each poll. */
function lane(slot, work) {
  const instants = slotsOf(work).flatMap(({ finishes_at: at }) => (at ? [Date.parse(at)] : []));
  const begins = Date.parse(work.created_at);
  const ends = Date.parse(slot.finishes_at);
  const length = Math.max(1, ends - begins);
  const scale = length / Math.max(1, Math.max(...instants) - begins);
  const polls = journal.naming(work.id).filter(({ method }) => method === "GET");
  const shares = polls.map(({ at }) => (Date.parse(at) - begins) / length).filter((share) => share <= 1);
  return html`
    <div class="lane" role="progressbar" aria-label=${nameOf(slot, work)} aria-valuemin="0" aria-valuemax="100"
      style=${{ "--scale": scale.toFixed(3) }} data-begins=${begins} data-ends=${ends}>
      <span class="lane-fill"></span>
      ${shares.map((share) => html`<i class="lane-poll" style=${{ "--at": share.toFixed(3) }}></i>`)}
    </div>
  `;
}

/** Every slot's bar is where it is by now, in whatever region it stands. */
onTick((now) => {
  if (Number.isNaN(now)) return;
  for (const lane of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-ends]"))) {
    const begins = Number(lane.dataset.begins);
    const ends = Number(lane.dataset.ends);
    const share = Math.min(1, Math.max(0, (now - begins) / Math.max(1, ends - begins)));
    lane.setAttribute("aria-valuenow", String(Math.round(share * 100)));
    lane.style.setProperty("--share", share.toFixed(3));
    const wait = lane.parentElement?.querySelector(".slot-wait");
    if (wait) setText(wait, ends > now ? `done in ${duration(ends - now)}` : "due");
  }
});
