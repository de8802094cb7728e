// The client as the course begins: for each product a photo in, four pictures out. Needs nothing but Node.

import { readFileSync } from "node:fs";

export type Json = Record<string, any>;
export type Content = string | Uint8Array<ArrayBuffer> | undefined;

const PHOTO = new Uint8Array(readFileSync(new URL("../python/photo.png", import.meta.url)));
export const PRODUCTS = ["Linen shirt", "Silk scarf", "Wool coat"];
const ORDER = {
  output_mode: "photoshoot",
  image_count: 4,
  fashion_model: { type: "automatic" },
  aspect_ratio: "1:1",
  resolution: "1k",
  output_format: "png",
};

/** The service refused a request. */
export class Refused extends Error {
  code: string;
  retryAfter: string | null;

  constructor(response: Response, problem: Json) {
    super(`${response.status} ${problem.code}: ${problem.detail}`);
    this.code = problem.code;
    this.retryAfter = response.headers.get("retry-after");
  }
}

export const sleep = (seconds: number) => new Promise<void>((done) => setTimeout(done, seconds * 1000));

/** The service, as the shop uses it. */
export class Client {
  baseUrl = process.env.IMAGE_WORKFLOW_BASE_URL!;
  apiKey = process.env.IMAGE_WORKFLOW_API_KEY!;
  pause = 0; // how many seconds the last answer asks to wait before the next look

  /** Shoot all products, print the ids of their pictures, and return the exit status. */
  async run(): Promise<number> {
    const done: Record<string, string[]> = {};
    for (const name of PRODUCTS) done[name] = await this.shoot(name);
    console.log(JSON.stringify(done));
    return 0;
  }

  async shoot(name: string): Promise<string[]> {
    const { id } = await this.upload(PHOTO);
    const product = await this.ask("POST", "/products", { name, asset_ids: [id], primary_asset_id: id });
    const background = { type: "background", background_id: await this.background("Seamless white") };
    const order = { ...ORDER, product_ids: [product.id], background };
    let generation = await this.ask("POST", "/generations/product-photography", order);
    while (generation.status !== "completed" && generation.status !== "failed") {
      await sleep(this.pause);
      generation = await this.ask("GET", `/generations/${generation.id}`);
    }
    return this.pictures(generation);
  }

  async upload(photo: Uint8Array<ArrayBuffer>): Promise<Json> {
    const session = await this.ask("POST", "/uploads", { content_type: "image/png", size_bytes: photo.byteLength });
    const { method, url, headers } = session.upload; // the key must never be sent to this address
    const { upload_token } = await this.send(method, url, headers, photo);
    return this.ask("POST", `/uploads/${session.id}/complete`, { upload_token });
  }

  async background(name: string): Promise<string> {
    const { data } = await this.ask("GET", "/backgrounds?scope=global");
    return data.find((background: Json) => background.name === name).id;
  }

  pictures(generation: Json): string[] {
    return generation.outputs.map((output: Json) => output.asset.id);
  }

  headers(): Record<string, string> {
    const key = { Authorization: `Bearer ${this.apiKey}`, "Idempotency-Key": crypto.randomUUID() };
    return { ...key, "Content-Type": "application/json" };
  }

  /** Send a request, and send it again if there is no answer. */
  async ask(method: string, path: string, body?: Json): Promise<Json> {
    try {
      return await this.send(method, this.baseUrl + path, this.headers(), JSON.stringify(body));
    } catch (error) {
      if (error instanceof Refused) throw error;
      await sleep(0.5);
      return this.send(method, this.baseUrl + path, this.headers(), JSON.stringify(body));
    }
  }

  /** Send a request once. Throws Refused. */
  async send(method: string, url: string, headers: Json, body: Content): Promise<Json> {
    const response = await fetch(url, { method, headers, body, signal: AbortSignal.timeout(10_000) });
    const content = await response.json();
    if (!response.ok) throw new Refused(response, content);
    this.pause = Number(response.headers.get("retry-after") ?? 2);
    return content;
  }
}
