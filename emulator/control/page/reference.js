/** The contract for people: its operations, by their ids. */

import { byId, element, fill } from "./dom.js";
import { ask } from "./service.js";

const contract = await ask("GET", "/contract.json");
const operations = Object.values(contract.paths)
  .flatMap((path) => Object.values(path))
  .filter((one) => one.operationId);
fill(
  byId("reference"),
  element(
    "ul",
    {},
    operations.map((operation) =>
      element(
        "li",
        { id: operation.operationId },
        element("strong", {}, operation.operationId),
        ` ${operation.summary}`,
      ),
    ),
  ),
);
