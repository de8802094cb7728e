// The key may be revoked: go on with its successor.

import { Client as Before } from "./step_5.ts";
import { Refused, type Json } from "./step_0.ts";

export class Client extends Before {
  override async ask(method: string, path: string, body?: Json): Promise<Json> {
    try {
      return await super.ask(method, path, body);
    } catch (error) {
      const next = process.env.IMAGE_WORKFLOW_NEXT_API_KEY ?? this.apiKey;
      const isOver = error instanceof Refused && ["credential_revoked", "credential_expired"].includes(error.code);
      if (!isOver || next === this.apiKey) throw error;
      this.apiKey = next;
      return super.ask(method, path, body);
    }
  }
}
