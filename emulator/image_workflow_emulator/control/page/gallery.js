/** The region `Gallery`: all Assets as pictures, uploads by field or drop, and a first photoshoot in one click. */

import { act, actButton } from "./acts.js";
import { newIdempotencyKey, sendAsClient } from "./client.js";
import { element, field, fill, follow, setText } from "./dom.js";
import { idLink } from "./ids.js";
import { recipeOf } from "./orders.js";
import { picture, pictureActs } from "./pictures.js";
import { ask, Refusal } from "./service.js";
import { counted, sentence, size } from "./words.js";

export const name = "Gallery";
/** @type {"main"} */
export const place = "main";
export const concerns = ["work", "request", "reset", "scenario", "clock"];

const LIMIT = 500;
const TYPES = ["image/jpeg", "image/png", "image/gif", "image/webp", "image/avif"];

/**
 * @typedef {object} Asset
 * @property {string} id
 * @property {{id: string, name: string}} team
 * @property {string} source
 * @property {string | null} source_generation_id
 * @property {string} format
 * @property {number | null} width
 * @property {number | null} height
 * @property {number | null} size_bytes
 * @property {string} url
 */

/**
 * @typedef {object} Team
 * @property {string} id
 * @property {string} name
 * @property {{key: string, profile: string, state: string}[]} credentials
 */

/** @param {HTMLElement} panel */
export function create(panel) {
  const count = element("p", { class: "count faint" });
  const pictures = element("ul", { class: "pictures" });
  const team = element("select", { id: "gallery-team" });
  const upload = element("input", { id: "upload", type: "file", accept: TYPES.join(","), multiple: true });
  const message = element("div", { class: "gallery-messages", "aria-live": "polite" });
  const empty = element(
    "div",
    { class: "empty", hidden: true },
    element("p", { class: "empty-title" }, "No pictures yet"),
    element("p", {}, "Drop a picture here, or press First photoshoot: it makes a sample if there is no upload."),
  );

  upload.addEventListener(
    "change",
    () => void act(upload, () => add([...(upload.files ?? [])])).then(() => (upload.value = "")),
  );

  panel.append(
    element("div", { class: "region-head" }, element("h2", {}, name), count),
    element(
      "div",
      { class: "gallery-acts changes" },
      field("Team", team),
      field("Upload", upload, "field-upload"),
      actButton(
        "First photoshoot",
        async () => {
          const { id } = await ask("POST", "first-photoshoot", { query: { team: team.value || undefined } });
          await refresh();
          return admitted(id);
        },
        { class: "primary" },
      ),
      actButton("Photoshoot as a client", photoshootAsClient),
    ),
    element(
      "p",
      { class: "soft gallery-hint changes" },
      "First photoshoot does not go through /v1: it is not in Requests, and of a scenario only rules for work apply. ",
      "Photoshoot as a client sends the request as your program does, so every rule applies.",
    ),
    message,
    pictures,
    empty,
  );
  takeDrops();

  function takeDrops() {
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
  }

  /** @param {string} id of the Generation */
  function admitted(id) {
    const text = "Admitted: four pictures are on their way";
    tell("good", `${text}. `, element("a", { href: `#work/${id}` }, "Watch them in Work"));
    return text;
  }

  /** @param {"good" | "refused"} kind @param {(Node | string)[]} text */
  function tell(kind, ...text) {
    fill(
      message,
      element("p", { class: `gallery-message is-${kind}`, role: kind === "refused" ? "alert" : null }, text),
    );
  }

  /** Photograph the newest uploaded picture of the Team, or a sample, by a request to the service. */
  async function photoshootAsClient() {
    const [teams, assets] = await Promise.all([listTeams(), listAssets()]);
    const owner = teams.find((one) => one.id === team.value) ?? teams[0];
    const full = owner.credentials.filter((one) => one.profile === "full");
    const key = (full.find((one) => one.state === "active") ?? full[0])?.key;
    if (!key) throw new Error(`The Team ${owner.name} has no full credential`);
    const asset = assets.find((one) => one.team.id === owner.id && one.source === "upload") ?? (await addSample());
    const body = JSON.stringify({ asset_ids: [asset.id], output_mode: "photoshoot" });
    const headers = { "Idempotency-Key": newIdempotencyKey() };
    const answer = await sendAsClient({ method: "POST", path: "/generations/product-photography", key, headers, body });
    await refresh();
    if (answer.status === 202 && answer.body?.id) return admitted(answer.body.id);
    const { code = "", detail = "the connection was cut" } = answer.body ?? {};
    const reason = `${answer.status ?? "no answer"} ${code}: ${detail}`;
    const place = answer.entry ? `requests/${answer.entry.sequence}` : "requests";
    tell("refused", `The request failed: ${reason}. `, element("a", { href: `#${place}` }, "See why in Requests"));
    return null;
  }

  async function addSample() {
    const canvas = new OffscreenCanvas(600, 600);
    const drawing = /** @type {OffscreenCanvasRenderingContext2D} */ (canvas.getContext("2d"));
    drawing.fillStyle = "#4f46e5";
    drawing.roundRect(180, 120, 240, 360, 40);
    drawing.fill();
    return addAsset(await canvas.convertToBlob());
  }

  /** @param {Blob} file @returns {Promise<Asset>} */
  function addAsset(file) {
    const headers = { "Content-Type": file.type || "application/octet-stream" };
    return ask("POST", "assets", { body: file, headers, query: { team: team.value || undefined } });
  }

  /** @param {File[]} files */
  async function add(files) {
    for (const file of files) {
      try {
        await addAsset(file);
      } catch (error) {
        throw error instanceof Refusal
          ? new Refusal(error.status, error.code, `${file.name}: ${error.message}`)
          : error;
      }
    }
    await refresh();
    return `${counted(files.length, "picture")} uploaded`;
  }

  async function refresh() {
    const [assets, teams, work] = await Promise.all([
      listAssets(),
      listTeams(),
      ask("GET", "work", { query: { limit: LIMIT } }),
    ]);
    const recipes = new Map(work.data.map((/** @type {import("./work.js").Work} */ one) => [one.id, recipeOf(one)]));
    const recipe = (/** @type {Asset} */ asset) => recipes.get(asset.source_generation_id) ?? "";
    follow(
      team,
      teams,
      (one) => one.id,
      (one) => element("option", { value: one.id }, one.name),
    );
    const all = counted(assets.length, "Asset");
    setText(count, assets.length === LIMIT ? `the newest ${all}` : assets.length ? all : "");
    empty.hidden = assets.length > 0;
    follow(
      pictures,
      assets,
      (asset) => asset.id,
      (asset) => make(asset, recipe(asset)),
      update,
    );
  }
  return { refresh };
}

/** @returns {Promise<Asset[]>} newest first */
async function listAssets() {
  return (await ask("GET", "assets", { query: { limit: LIMIT } })).data;
}

/** @returns {Promise<Team[]>} */
async function listTeams() {
  return (await ask("GET", "teams")).data;
}

/**
 * @param {Asset} asset
 * @param {string} recipe what was ordered
 */
function make(asset, recipe) {
  const alt = `${sentence(asset.source)} ${asset.format} of ${asset.team.name}, ${asset.id}`;
  return element(
    "li",
    { class: "picture" },
    element("div", { class: "picture-frame" }, picture(asset.url, alt)),
    element(
      "div",
      { class: "picture-text" },
      element("strong", {}),
      element("span", { class: "faint picture-size" }),
      recipe && element("span", { class: "recipe", dir: "auto", title: recipe }, recipe),
      idLink(asset.id),
      pictureActs(asset.url, alt, recipe),
    ),
  );
}

/**
 * @param {Element} made
 * @param {Asset} asset
 */
function update(made, asset) {
  const edges = asset.width && asset.height ? `${asset.width} × ${asset.height}` : "";
  setText(
    /** @type {Element} */ (made.querySelector("strong")),
    [asset.format.toUpperCase(), edges].filter(Boolean).join(" "),
  );
  const facts = [asset.size_bytes === null ? "" : size(asset.size_bytes), asset.source, asset.team.name];
  setText(/** @type {Element} */ (made.querySelector(".picture-size")), facts.filter(Boolean).join(" · "));
}
