/** The region `Gallery`: a card for each order with its pictures, uploads by field or drop, and a first photoshoot. */

import { newIdempotencyKey, sendAsClient } from "./client.js";
import { idLink } from "./ids.js";
import { kindOf, recipeOf, titleOf } from "./orders.js";
import { openablePicture, pictureActs } from "./pictures.js";
import { ask, Refusal } from "./service.js";
import { StillList } from "./still.js";
import { assets, teams, works } from "./store.js";
import { act, actButton, empty, field, head, html, options, render } from "./ui.js";
import { counted, sentence, size, timeOfDay, withoutPointers } from "./words.js";

export const name = "Gallery";
export const place = "main";
export const concerns = ["work", "write", "team", "reset"];

const LIMIT = 500;
const TYPES = ["image/jpeg", "image/png", "image/gif", "image/webp", "image/avif"];
const SAMPLE = { given: [{ product: { name: "Sample" } }] };

export function create(panel) {
  let message = null;
  let chosen = "";

  const list = new StillList(draw);

  function draw() {
    const listed = assets.last ?? [];
    const byId = new Map((works.last ?? []).map((one) => [one.id, one]));
    const owners = teams.last ?? [];
    if (!owners.some(({ id }) => id === chosen)) chosen = owners[0]?.id ?? "";
    const all = counted(listed.length, "Asset");
    const team = html`
      <select id="gallery-team" value=${chosen} onChange=${(event) => (chosen = event.target.value)}>
        ${options(owners.map(({ id, name }) => [id, name]))}
      </select>
    `;
    const upload = html`
      <input id="upload" type="file" accept=${TYPES.join(",")} multiple onChange=${takeChosen} />
    `;
    const view = [
      head(
        name,
        html`<p class="count faint">${listed.length === LIMIT ? `the newest ${all}` : listed.length > 0 && all}</p>`,
      ),
      html`
        <div class="gallery-acts changes">
          ${field("Team", "gallery-team", team)}${field("Upload", "upload", upload, "field-upload")}
          ${actButton("First photoshoot", firstPhotoshoot, { class: "primary" })}
        </div>
      `,
      html`<div class="gallery-messages" aria-live="polite">${message}</div>`,
      list.view(
        "cards",
        ordersOf(list.shown(listed)).map(([id, pictures]) => card(byId.get(id), pictures)),
      ),
      assets.last?.length === 0 &&
        empty(
          "No pictures yet",
          "Drop a picture here, or press First photoshoot: it makes a sample if there is no upload.",
        ),
    ];
    render(view, panel);
  }

  panel.addEventListener("dragover", (event) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    panel.classList.add("is-over");
  });
  panel.addEventListener("dragleave", (event) => {
    if (!panel.contains(/** @type {Node | null} */ (event.relatedTarget))) panel.classList.remove("is-over");
  });
  panel.addEventListener("drop", (event) => {
    event.preventDefault();
    panel.classList.remove("is-over");
    const files = [...(event.dataTransfer?.files ?? [])];
    void act(panel, () => add(files));
  });

  function takeChosen({ currentTarget: upload }) {
    void act(upload, () => add([...upload.files])).then(() => (upload.value = ""));
  }

  /** Photograph the newest upload of the Team, or a sample, by a request to the service as a client sends it. */
  async function firstPhotoshoot() {
    const [listed] = await Promise.all([assets.renew(), teams.get()]);
    const owner = teams.last.find((one) => one.id === chosen);
    const full = owner?.credentials.filter((one) => one.profile === "full") ?? [];
    const key = (full.find((one) => one.state === "active") ?? full[0])?.key;
    if (!key) throw new Error(`The Team ${owner?.name ?? ""} has no full credential`);
    const asset = listed.find((one) => one.team.id === owner.id && one.source === "upload");
    const subject = asset ? { asset_ids: [asset.id] } : { product_ids: [await addSample(owner.id)] };
    const body = JSON.stringify({ ...subject, output_mode: "photoshoot" });
    const headers = { "Idempotency-Key": newIdempotencyKey() };
    const answer = await sendAsClient({ method: "POST", path: "/generations/product-photography", key, headers, body });
    const isAdmitted = answer.status === 202 && answer.body?.id;
    const { code = "", detail = "the connection was cut" } = answer.body ?? {};
    const place = isAdmitted ? `work/${answer.body.id}` : `requests/${answer.entry?.sequence ?? ""}`;
    const text = isAdmitted
      ? "Admitted: four pictures are on their way."
      : `The request failed: ${answer.status ?? "no answer"} ${code}: ${withoutPointers(detail)}.`;
    message = html`
      <p class=${`gallery-message ${isAdmitted ? "" : "is-refused"}`} role=${isAdmitted ? null : "alert"}>
        ${text} <a href=${`#${place}`}>${isAdmitted ? "Watch them in Work" : "See why in Requests"}</a>
      </p>
    `;
    await Promise.all([assets.renew(), works.renew()]);
    draw();
    return isAdmitted ? text : null;
  }

  /** @returns {Promise<string>} the id of a Product with a drawn photo */
  async function addSample(team) {
    return (await ask("POST", "given", { json: SAMPLE, query: { team } })).data[0].id;
  }

  async function add(files) {
    for (const file of files) {
      const headers = { "Content-Type": file.type || "application/octet-stream" };
      await ask("POST", "assets", { body: file, headers, query: { team: chosen || undefined } }).catch((error) => {
        if (!(error instanceof Refusal)) throw error;
        throw new Refusal(error.status, error.code, `${file.name}: ${error.message}`);
      });
    }
    await assets.renew();
    draw();
    return `${counted(files.length, "picture")} uploaded`;
  }

  async function refresh() {
    await Promise.all([assets.get(), teams.get(), works.get()]);
    draw();
  }

  draw();
  return { refresh };
}

/**
 * Assets by the work that made them, uploads together, in the order of their newest.
 * @param {any[]} assets newest first
 */
function ordersOf(assets) {
  const orders = new Map();
  for (const asset of assets) {
    const id = asset.source_generation_id;
    orders.set(id, [...(orders.get(id) ?? []), asset]);
  }
  return [...orders];
}

export function altOf({ source, format, team, id }) {
  return `${sentence(source)} ${format} of ${team.name}, ${id}`;
}

/** An order, or the uploads, with its Assets, newest first. */
function card(work, assets) {
  const recipe = work ? recipeOf(work) : "";
  const id = assets[0].source_generation_id;
  const pictures = assets.map((asset) => ({ url: asset.url, alt: altOf(asset), recipe, asset })).reverse();
  const title = work ? titleOf(work) : id ? "Order" : "Uploads";
  return html`
    <article class="card" key=${id ?? "uploads"} aria-label=${title}>
      <div class="card-head">
        <h3 dir="auto">${title}</h3>
        ${work && title !== kindOf(work) && html`<span class="faint">${kindOf(work)}</span>`}
        ${work && html`<time class="faint" datetime=${work.created_at}>${timeOfDay(work.created_at)}</time>`}
        ${id && html`<a href=${`#work/${id}`}>Show the work</a>`}
        ${recipe && html`<span class="recipe" dir="auto">${recipe}</span>`}
      </div>
      <ul class="pictures">${pictures.map((shown) => tile(shown, pictures))}</ul>
    </article>
  `;
}

/** A picture among all of the same order. */
function tile(shown, all) {
  const { id, format, width, height, size_bytes: bytes, team } = shown.asset;
  const facts = [bytes === null ? "" : size(bytes), team.name].filter(Boolean).join(" · ");
  return html`
    <li class="picture" key=${id}>
      <div class="picture-frame">${openablePicture(shown, all)}</div>
      <div class="picture-text">
        <strong>${format.toUpperCase()}${width && height ? ` ${width} × ${height}` : ""}</strong>
        <span class="faint">${facts}</span>
        ${idLink(id)}${pictureActs(shown)}
      </div>
    </li>
  `;
}
