// An upload may expire: its session does not come back, so begin anew.

import { Client as Before } from "./step_2.ts";
import { Refused, type Json } from "./step_0.ts";

const NEW_SESSION = ["upload_expired", "upload_not_found", "upload_bytes_conflict"];

export class Client extends Before {
  override async upload(photo: Uint8Array<ArrayBuffer>): Promise<Json> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await super.upload(photo);
      } catch (error) {
        if (!(error instanceof Refused && NEW_SESSION.includes(error.code)) || attempt === 3) throw error;
      }
    }
  }
}
