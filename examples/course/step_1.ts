// An answer may be lost: each attempt has the key of the first.

import { Client as Before, Refused, type Content, type Json } from "./step_0.ts";

export class Client extends Before {
  override ask(method: string, path: string, body?: Json): Promise<Json> {
    return this.send(method, this.baseUrl + path, this.headers(), JSON.stringify(body));
  }

  override async send(method: string, url: string, headers: Json, body: Content): Promise<Json> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await super.send(method, url, headers, body);
      } catch (error) {
        if (error instanceof Refused || attempt === 3) throw error; // else no answer, or one that cannot be read
      }
    }
  }
}
