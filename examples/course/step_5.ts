// The Credits may run out: a person has to act, and what is there already must not be lost.

import { Client as Before } from "./step_4.ts";
import { PRODUCTS, Refused } from "./step_0.ts";

export class Client extends Before {
  override async run(): Promise<number> {
    const done: Record<string, string[]> = {};
    try {
      for (const name of PRODUCTS) done[name] = await this.shoot(name);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      const rest = PRODUCTS.filter((name) => !(name in done));
      console.error(`${error.message}\nnot done: ${rest.join(", ")}`);
    }
    console.log(JSON.stringify(done));
    return Object.keys(done).length === PRODUCTS.length ? 0 : 3;
  }
}
