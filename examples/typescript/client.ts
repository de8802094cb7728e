// A small client of the Image Workflow Service: a photo in, a photoshoot out. Needs nothing but fetch.
//
// One Idempotency-Key for each thing that is wanted, however often it is asked for; pauses as long as Retry-After says;
// exponential backoff with jitter where nothing is said; and what can be recovered from, told by its code.

export type Json = Record<string, any>;

export class Refused extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    detail: string,
  ) {
    super(`${status} ${code}: ${detail}`);
  }
}

const REPEATABLE = new Set([
  "rate_limited",
  "concurrency_limit_reached",
  "service_unavailable",
  "internal_error",
  "idempotency_in_progress",
]);
const NEW_SESSION = new Set(["upload_expired", "upload_bytes_conflict", "upload_not_found"]);

export class ImageWorkflow {
  constructor(
    private readonly baseUrl: string,
    private readonly apiKey: string,
    private readonly sleep = (seconds: number) => new Promise<void>((done) => setTimeout(done, seconds * 1000)),
    private readonly attempts = 8,
  ) {}

  /** Bring a photo in and return its Asset. */
  async upload(photo: Uint8Array<ArrayBuffer>, contentType: string): Promise<Json> {
    for (let attempt = 1; ; attempt++) {
      const session = await this.request("POST", "/uploads", {
        content_type: contentType,
        size_bytes: photo.byteLength,
      });
      try {
        // The credential must never be sent to this address.
        const { method, url, headers } = session.upload;
        const sent = await this.settle(await this.retried(() => fetch(url, { method, headers, body: photo })));
        return await this.request("POST", `/uploads/${session.id}/complete`, { upload_token: sent.upload_token });
      } catch (error) {
        if (!(error instanceof Refused && NEW_SESSION.has(error.code)) || attempt === this.attempts) throw error;
      }
    }
  }

  /** Group photos into a Product. */
  createProduct(name: string, assetIds: string[]): Promise<Json> {
    return this.request("POST", "/products", { name, asset_ids: assetIds, primary_asset_id: assetIds[0] });
  }

  /** Order a photoshoot, wait for it, and return the Assets of the outputs that were completed. */
  async photoshoot(productIds: string[], options: Json = {}): Promise<Json[]> {
    const body = { product_ids: productIds, output_mode: "photoshoot", ...options };
    const generation = await this.request("POST", "/generations/product-photography", body);
    const done = await this.waitFor(`/generations/${generation.id}`);
    const completed = (done.outputs as Json[]).filter((output) => output.status === "completed");
    return Promise.all(completed.map((output) => this.request("GET", `/assets/${output.asset.id}`)));
  }

  /** Poll an Operation or a Generation until it has ended, as often as the service suggests. */
  async waitFor(path: string): Promise<Json> {
    for (;;) {
      const answer = await this.answer("GET", path);
      const work = (await answer.json()) as Json;
      if (work.status === "completed" || work.status === "failed") return work;
      await this.sleep(retryAfter(answer) ?? 1);
    }
  }

  /** Send one logical request, repeated until it is answered for good. */
  async request(method: string, path: string, body?: Json): Promise<Json> {
    return this.settle(await this.answer(method, path, body));
  }

  private async answer(method: string, path: string, body?: Json): Promise<Response> {
    const headers: Record<string, string> = { Authorization: `Bearer ${this.apiKey}` };
    if (body !== undefined) headers["Content-Type"] = "application/json";
    // One key for all attempts: a write whose answer was lost is then not done twice.
    if (method === "POST" || method === "PATCH") headers["Idempotency-Key"] = crypto.randomUUID();
    const init = { method, headers, body: body && JSON.stringify(body) };
    for (;;) {
      const answer = await this.retried(() => fetch(this.baseUrl + path, init));
      if (answer.status !== 409) return answer;
      const problem = (await answer.clone().json()) as Json;
      if (problem.code !== "resource_operation_in_progress") return answer;
      await this.waitFor(`/operations/${problem.active_operation_id}`);
    }
  }

  private async settle(answer: Response): Promise<Json> {
    const text = await answer.text();
    const content = (text ? JSON.parse(text) : {}) as Json;
    if (!answer.ok) throw new Refused(answer.status, content.code, content.detail);
    return content;
  }

  /** Send until there is an answer that repetition cannot change, or no attempt is left. */
  private async retried(send: () => Promise<Response>): Promise<Response> {
    for (let attempt = 1; ; attempt++) {
      const backoff = Math.min(0.5 * 2 ** attempt, 30) * (0.5 + Math.random() / 2);
      let answer: Response | undefined;
      try {
        answer = await send();
        if (answer.ok || attempt === this.attempts) return answer;
        const problem = (await answer.clone().json()) as Json;
        if (!REPEATABLE.has(problem.code)) return answer;
      } catch (error) {
        if (attempt === this.attempts) throw error;
      }
      await this.sleep((answer && retryAfter(answer)) ?? backoff);
    }
  }
}

function retryAfter(answer: Response): number | undefined {
  const value = answer.headers.get("retry-after");
  return value === null ? undefined : Number(value);
}
