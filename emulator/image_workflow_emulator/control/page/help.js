/**
 * The region `Help`: a page of the documentation, which is Markdown. Its links lead to other pages in the same place.
 */

import { replaced } from "./ids.js";
import { Refusal, send } from "./service.js";
import { html, render } from "./ui.js";

export const name = "Help";
export const isOnDemand = true;
export const place = "main";
export const concerns = [];

const INLINE = /`([^`]+)`|\*\*([^*]+)\*\*|\[((?:[^\]`]|`[^`]*`)+)\]\(([^)]+)\)/g;

export function create(panel) {
  let shown = "";

  /** @param {string} path such as `scenarios.md` */
  async function show(path) {
    const text = await send("GET", `/docs/${path}`).then(
      (response) => response.text(),
      (error) => {
        if (!(error instanceof Refusal)) throw error;
        return error.message;
      },
    );
    if (path !== shown) return;
    const index = path === "README.md" ? null : html`<a href="#help/README.md">All pages</a>`;
    render(html`<p>${index}</p><div class="prose">${blocksOf(text, path)}</div>`, panel);
    panel.scrollTop = 0;
  }

  return {
    refresh: async () => {},
    /** @param {string} rest the path of a page */
    open(rest) {
      const path = rest || "README.md";
      if (path === shown) return;
      shown = path;
      void show(path);
    },
  };
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
    if (at % 2) return html`<pre class="json" tabindex="0">${part}</pre>`;
    return part.split(/\n{2,}/).map((block) => blockOf(block.trim(), line));
  });
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
