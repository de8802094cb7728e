/** Requests as an HTTP Archive (HAR 1.2), which browsers, proxies and `drift` read. It has no keys. */

import { ask, ROOT } from "./service.js";
import { download } from "./ui.js";

const PAGE = 1000;
const VERSION = "HTTP/1.1";
/** The headers that the journal has of a request. */
const REQUEST_HEADERS = ["idempotency-key", "user-agent", "content-type", "emulator-fault"];

/**
 * Hand the person a file with requests of the journal.
 * @param {{sequence: number}[]} entries oldest first
 */
export async function saveArchive(entries) {
  const { origin } = ROOT;
  const wanted = new Set(entries.map(({ sequence }) => sequence));
  const whole = (await wholeEntries(wanted)).map((entry) => archived(entry, origin));
  const creator = { name: "image-workflow-emulator", version: "1" };
  const archive = { log: { version: "1.2", creator, entries: whole } };
  download(new Blob([JSON.stringify(archive, null, 1)], { type: "application/json" }), "requests.har");
  return "The requests are saved";
}

/** The entries of these numbers with their bodies, oldest first. */
async function wholeEntries(wanted) {
  const oldest = Math.min(...wanted);
  const whole = [];
  let before = Math.max(...wanted) + 1;
  while (before > oldest) {
    const { data } = await ask("GET", "requests", { query: { limit: PAGE, before } });
    whole.push(...data.filter(({ sequence }) => wanted.has(sequence)));
    const next = data.at(-1)?.sequence ?? 0;
    if (next === 0 || next >= before || whole.length === wanted.size) break;
    before = next;
  }
  return whole.reverse();
}

function archived(entry, origin) {
  const query = entry.query ?? "";
  const took = entry.duration_ms ?? 0;
  const answered = Object.entries(entry.response_headers ?? {});
  const sent = REQUEST_HEADERS.flatMap((name) => {
    const value = entry[name.replace("-", "_")];
    return value ? [[name, value]] : [];
  });
  // The journal keeps no key: the credential's id tells keys apart.
  if (entry.credential) sent.push(["authorization", `Bearer ${entry.credential.id}`]);
  const request = {
    ...message(sent),
    method: entry.method,
    url: `${origin}${entry.path}${query ? `?${query}` : ""}`,
    queryString: [...new URLSearchParams(query)].map(([name, value]) => ({ name, value })),
    ...(entry.request_body === null ? {} : { postData: content(entry.request_body, sent) }),
  };
  const response = {
    ...message(answered),
    status: entry.lost ? 0 : (entry.status ?? 0),
    statusText: "",
    content: content(entry.response_body, answered),
    redirectURL: "",
  };
  const timings = { send: 0, wait: took, receive: 0 };
  return { startedDateTime: entry.at, time: took, request, response, cache: {}, timings };
}

function message(headers) {
  const listed = headers.map(([name, value]) => ({ name, value }));
  return { httpVersion: VERSION, cookies: [], headersSize: -1, bodySize: -1, headers: listed };
}

function content(body, headers) {
  const text = typeof body === "string" ? body : body === null ? "" : JSON.stringify(body);
  const mimeType = headers.find(([name]) => name === "content-type")?.[1] ?? "";
  return { mimeType, size: new TextEncoder().encode(text).length, text };
}
