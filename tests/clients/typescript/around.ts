/**
 * What a tour does beside the generated client: raw bytes to and from signed addresses, the waits, and the report of what
 * it saw. Knows nothing of any client.
 */

import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

export const MOST_POLLS = 50;
export const BASE_URL = required("IMAGE_WORKFLOW_BASE_URL");
export const API_KEY = required("IMAGE_WORKFLOW_API_KEY");
export const PHOTO = await readFile(required("TOUR_PHOTO"));

function required(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set`);
  return value;
}

/** Sends the photo as an Upload Session asks; returns the upload token. */
export async function sendPhoto(method: string, url: string, headers: Record<string, string>): Promise<string> {
  const sent = await fetch(url, { method, headers, body: new Uint8Array(PHOTO) });
  if (sent.status !== 200) throw new Error(await sent.text());
  const { upload_token } = (await sent.json()) as { upload_token: string };
  return upload_token;
}

/** Fetches a public file; returns its length. */
export async function downloadedBytes(url: string): Promise<number> {
  return (await (await fetch(url)).arrayBuffer()).byteLength;
}

/** Waits before the next look, as long as Retry-After says; unfinished work must say so. */
export async function wait(retryAfter: unknown): Promise<void> {
  if (typeof retryAfter !== "string") throw new Error("unfinished work does not say when to look again");
  await sleep(Number(retryAfter) * 1000);
}

/** Ends the tour with what was seen, as one line of JSON. */
export function tell(report: Record<string, unknown>): void {
  console.log(JSON.stringify(report));
}
