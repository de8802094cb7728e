// A part of the outputs may fail: the others are completed, and charged.

import { Client as Before } from "./step_3.ts";
import type { Json } from "./step_0.ts";

export class Client extends Before {
  override pictures(generation: Json): string[] {
    generation.outputs.forEach((output: Json, slot: number) => {
      const error = JSON.stringify(output.error);
      if (output.status === "failed") console.error(`${generation.id}: output ${slot + 1} failed: ${error}`);
    });
    const completed = generation.outputs.filter((output: Json) => output.status === "completed");
    return completed.map((output: Json) => output.asset.id);
  }
}
