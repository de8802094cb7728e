// The service may be busy: wait as long as it says, and send the same request again.

import { Client as Before } from "./step_1.ts";
import { Refused, sleep, type Content, type Json } from "./step_0.ts";

const REPEATABLE = [
  "rate_limited",
  "concurrency_limit_reached",
  "service_unavailable",
  "internal_error",
  "idempotency_in_progress",
];

export class Client extends Before {
  override async send(method: string, url: string, headers: Json, body: Content): Promise<Json> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await super.send(method, url, headers, body);
      } catch (error) {
        if (!(error instanceof Refused && REPEATABLE.includes(error.code)) || attempt === 6) throw error;
        await sleep(Number(error.retryAfter ?? 2 ** attempt * (0.1 + Math.random() / 10)));
      }
    }
  }
}
