/**
 * The region `Help`: a page of the documentation, which is Markdown. Its links lead to other pages in the same place, and
 * its examples have the address of this emulator.
 */

import { replaced } from "./ids.js";
import { Refusal, ROOT, send } from "./service.js";
import { actButton, copy, html, render } from "./ui.js";

export const name = "Help";
export const isOnDemand = true;
export const place = "main";
export const concerns = [];

const INLINE = /`([^`]+)`|\*\*([^*]+)\*\*|\[((?:[^\]`]|`[^`]*`)+)\]\(([^)]+)\)/g;
/** The address that the documentation has in its examples. */
const EXAMPLE_HOST = /\b(?:127\.0\.0\.1|localhost):8038\b/g;

export function create(panel) {
  let shown = "";

  /**
   * @param {string} path such as `scenarios.md`
   * @param {string} section the beginning of a title to lead to
   */
  async function show(path, section) {
    const text = await send("GET", `/docs/${path}`).then(
      (response) => response.text(),
      (error) => {
        if (!(error instanceof Refusal)) throw error;
        return error.message;
      },
    );
    if (path !== shown) return;
    const index = path === "README.md" ? null : html`<a href="#help/README">All pages</a>`;
    const view = html`<p>${index}</p><div class="prose" key=${path}>${blocksOf(hereIn(text), path)}</div>`;
    render(view, panel);
    panel.scrollTop = 0;
    leadTo(section);
  }

  function leadTo(section) {
    if (!section) return;
    const titles = [...panel.querySelectorAll(".prose :is(h2, h3, h4, h5)")];
    titles.find((title) => title.textContent?.startsWith(section))?.scrollIntoView();
  }

  return {
    refresh: async () => {},
    /** @param {string} rest the path of a page, with or without its ending */
    open(rest, { section = "" }) {
      const path = pathOf(rest);
      if (path === shown) {
        leadTo(section);
        return;
      }
      shown = path;
      void show(path, section);
    },
  };
}

function pathOf(rest) {
  if (!rest) return "README.md";
  return rest.endsWith(".md") ? rest : `${rest}.md`;
}

/** A text of the documentation with the address of this emulator in its examples. */
function hereIn(text) {
  return text.replaceAll(EXAMPLE_HOST, ROOT.host);
}

/**
 * @param {string} text of a page
 * @param {string} path of the page, from which its links lead on
 */
function blocksOf(text, path) {
  const line = (words) => inline(words, path);
  // What stands between fences is every second part.
  const parts = text.split(/^```.*\n([\s\S]*?)^```$/m);
  return parts.map((part, at) => {
    if (at % 2) return block(part);
    return part.split(/\n{2,}/).map((block) => blockOf(block.trim(), line));
  });
}

/** A block of code, with a button that copies it. */
function block(text) {
  const names = { class: "quiet", "aria-label": "Copy the block" };
  const button = actButton("Copy", (button) => copy(text, button), names);
  return html`<div class="body">${button}<pre class="json" tabindex="0">${text}</pre></div>`;
}

function blockOf(body, line) {
  const [, level, title] = /^(#{1,4}) (.*)/.exec(body) ?? [];
  if (!body) return null;
  if (level) return html`<${`h${level.length + 1}`}>${line(title)}<//>`;
  if (body.startsWith("|")) return table(body, line);
  const items = body.split(/\n(?=(?:[-*]|\d+\.) )/);
  const list = items.map((item) => html`<li>${line(item.replace(/^([-*]|\d+\.) /, ""))}</li>`);
  if (/^[-*] /.test(body)) return html`<ul>${list}</ul>`;
  return /^\d+\. /.test(body) ? html`<ol>${list}</ol>` : html`<p>${line(body)}</p>`;
}

function table(text, line) {
  const rows = text.split("\n").map((row) => row.replace(/^\||\|$/g, "").split(/(?<!\\)\|/));
  const cells = (row, kind) =>
    html`<tr>${row.map((cell) => html`<${kind}>${line(cell.trim().replaceAll("\\|", "|"))}<//>`)}</tr>`;
  const [head, , ...body] = rows;
  return html`
    <div class="wide">
      <table><thead>${cells(head, "th")}</thead><tbody>${body.map((row) => cells(row, "td"))}</tbody></table>
    </div>
  `;
}

function inline(text, path) {
  return replaced(text, INLINE, ([, code, strong, words, target]) => {
    if (code) return html`<code>${code}</code>`;
    if (strong) return html`<strong>${strong}</strong>`;
    const { pathname, protocol } = new URL(target, `docs:///${path}`);
    const isPage = protocol === "docs:" && pathname.endsWith(".md");
    return isPage ? html`<a href=${`#help${pathname}`}>${inline(words, path)}</a>` : inline(words, path);
  });
}
