// A small client of the Image Workflow Service: a photo in, a photoshoot out. Needs nothing but fetch.
//
// It has the habits of a client that survives, which docs/survive.md explains: one Idempotency-Key for each thing that is
// wanted, until it is refused for good; an answer that cannot be read counts as lost; pauses as long as Retry-After says, or
// else exponential backoff with jitter; decisions by the code of a problem; and an end to every loop.

export type Json = Record<string, any>;

/** The service refused a request, and a retry would not help or has not helped. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    readonly problem: Json,
  ) {
    super(`${status} ${problem.code}: ${problem.detail}`);
  }

  get code(): string {
    return this.problem.code;
  }
}

/** Work was admitted, and did not end within `patience`. */
export class Unfinished extends Error {}

interface Answer<T = Json> {
  content: T;
  retryAfter: number | undefined;
}

interface Limits {
  /** How often one request is sent. */
  attempts: number;
  /** How many seconds the service may be silent. */
  timeout: number;
  /** How many seconds work is waited for. */
  patience: number;
}

const REPEATABLE = new Set([
  "rate_limited",
  "concurrency_limit_reached",
  "service_unavailable",
  "internal_error",
  "idempotency_in_progress",
]);
/** A photoshoot unless the caller says otherwise: the service does not promise what it would fill in. */
const PHOTOSHOOT = {
  output_mode: "photoshoot",
  image_count: 4,
  background: { type: "automatic" },
  fashion_model: { type: "automatic" },
  aspect_ratio: "1:1",
  resolution: "1k",
  output_format: "png",
};
export const NEW_SESSION = new Set(["upload_expired", "upload_bytes_conflict", "upload_not_found"]);

export class ImageWorkflow {
  private readonly limits: Limits;

  constructor(
    private readonly baseUrl: string,
    private readonly apiKey: string,
    private readonly sleep = (seconds: number) => new Promise<void>((done) => setTimeout(done, seconds * 1000)),
    limits: Partial<Limits> = {},
  ) {
    this.limits = { attempts: 8, timeout: 10, patience: 1200, ...limits };
  }

  /** Upload a photo and return its Asset. */
  async upload(photo: Uint8Array<ArrayBuffer>, contentType: string): Promise<Json> {
    for (let attempt = 1; ; attempt++) {
      const session = await this.request("POST", "/uploads", {
        content_type: contentType,
        size_bytes: photo.byteLength,
      });
      try {
        // The credential must never be sent to this address.
        const { method, url, headers } = session.upload;
        const sent = await this.send(url, { method, headers, body: photo }, readObject);
        return await this.request("POST", `/uploads/${session.id}/complete`, { upload_token: sent.content.upload_token });
      } catch (error) {
        if (!(error instanceof Refused && NEW_SESSION.has(error.code)) || attempt === this.limits.attempts) throw error;
      }
    }
  }

  /** Group photos into a Product. */
  createProduct(name: string, assetIds: string[]): Promise<Json> {
    return this.request("POST", "/products", { name, asset_ids: assetIds, primary_asset_id: assetIds[0] });
  }

  /** Order a photoshoot, wait for it, and return the Assets of the outputs that were completed. */
  async photoshoot(productIds: string[], options: Json = {}): Promise<Json[]> {
    const body = { product_ids: productIds, ...PHOTOSHOOT, ...options };
    const generation = await this.request("POST", "/generations/product-photography", body);
    const done = await this.waitFor(`/generations/${generation.id}`);
    const completed = (done.outputs as Json[]).filter((output) => output.status === "completed");
    return Promise.all(completed.map((output) => this.request("GET", `/assets/${output.asset.id}`)));
  }

  /** Fetch the picture of an Asset. */
  async download(asset: Json): Promise<Uint8Array> {
    const read = async (response: Response) => {
      const bytes = new Uint8Array(await response.arrayBuffer());
      if (bytes.byteLength !== asset.size_bytes) throw new Error(`${bytes.byteLength} of ${asset.size_bytes} bytes`);
      return bytes;
    };
    return (await this.send(asset.url, {}, read)).content;
  }

  /** Poll an Operation or a Generation until it has ended, as often as the service suggests. */
  async waitFor(path: string): Promise<Json> {
    for (let waited = 0; ; ) {
      const { content, retryAfter } = await this.ask("GET", path);
      if (content.status === "completed" || content.status === "failed") return content;
      const pause = retryAfter ?? 2;
      waited += Math.max(pause, 1); // where the service asks for no pause, there must be an end too
      if (waited > this.limits.patience) throw new Unfinished(`${path} is still ${content.status}`);
      await this.sleep(pause);
    }
  }

  /** Send one logical request, repeated until it is answered for good. */
  async request(method: string, path: string, body?: Json): Promise<Json> {
    return (await this.ask(method, path, body)).content;
  }

  /** Send a request to the API; where an Operation is in the way, wait for its end first. */
  private async ask(method: string, path: string, body?: Json): Promise<Answer> {
    const headers: Record<string, string> = { Authorization: `Bearer ${this.apiKey}` };
    if (body !== undefined) headers["Content-Type"] = "application/json";
    for (let attempt = 1; ; attempt++) {
      // One key until there is an answer: a write whose answer was lost is then not done twice. After a refusal another one,
      // since the service may repeat the refusal to the first.
      if (method === "POST" || method === "PATCH") headers["Idempotency-Key"] = crypto.randomUUID();
      try {
        return await this.send(this.baseUrl + path, { method, headers, body: body && JSON.stringify(body) }, readObject);
      } catch (error) {
        const isInTheWay = error instanceof Refused && error.code === "resource_operation_in_progress";
        if (!isInTheWay || attempt === this.limits.attempts) throw error;
        await this.waitFor(`/operations/${error.problem.active_operation_id}`);
      }
    }
  }

  /** Send until there is an answer that repetition cannot change, or no attempt is left. */
  private async send<T>(url: string, init: RequestInit, read: (response: Response) => Promise<T>): Promise<Answer<T>> {
    for (let attempt = 1; ; attempt++) {
      let pause = Math.min(0.5 * 2 ** attempt, 30) * (0.5 + Math.random() / 2);
      let failure: unknown;
      try {
        const response = await fetch(url, { ...init, signal: AbortSignal.timeout(this.limits.timeout * 1000) });
        const header = response.headers.get("retry-after");
        const retryAfter = header === null ? undefined : Number(header);
        if (response.ok) return { content: await read(response), retryAfter };
        const refused = new Refused(response.status, await readObject(response));
        failure = refused;
        if (!REPEATABLE.has(refused.code) && refused.status < 500) throw refused;
        pause = retryAfter ?? pause;
      } catch (error) {
        if (error === failure) throw error;
        failure = error; // broken off, silent, cut short, or not to be read
      }
      if (attempt === this.limits.attempts || pause > this.limits.patience) throw failure;
      await this.sleep(pause);
    }
  }
}

/** The JSON object of a body; a 204 has none. */
async function readObject(response: Response): Promise<Json> {
  const content = response.status === 204 ? {} : await response.json();
  if (content === null || typeof content !== "object") throw new Error("the body is no JSON object");
  return content;
}
