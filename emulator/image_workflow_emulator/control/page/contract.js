/** The contract as its reference reads it: references followed, and its parts in the order of the document. */

/** @typedef {Record<string, any>} Part */

export class Contract {
  /** @param {Part} document */
  constructor(document) {
    this.document = document;
  }

  /**
   * Follow a reference; what is none is itself.
   * @param {Part} part
   * @returns {Part}
   */
  resolve(part) {
    const { $ref } = part;
    if (!$ref) return part;
    const found = $ref
      .slice(2)
      .split("/")
      .reduce((/** @type {Part} */ at, /** @type {string} */ step) => at[step], this.document);
    return this.resolve(found);
  }

  /** Tags in order, each with its operations. */
  tags() {
    const operations = Object.entries(this.document.paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([, operation]) => operation.operationId)
        .map(([method, operation]) => ({
          ...operation,
          id: operation.operationId,
          method: method.toUpperCase(),
          path,
          shared: methods.parameters,
        })),
    );
    return this.document.tags.map((/** @type {Part} */ tag) => ({
      ...tag,
      operations: operations.filter((operation) => operation.tags.includes(tag.name)),
    }));
  }

  /** The schemas that say something of their own: those that only narrow down a problem's codes do not. */
  schemas() {
    return Object.entries(this.document.components.schemas).filter(
      ([name]) => name === "Problem" || name === "ProblemCode" || !/(Problem|Code)$/.test(name),
    );
  }

  /**
   * Which statuses each problem code comes with, and which operations can answer it.
   * @returns {{code: string, statuses: string[], operations: string[], example: Part | null}[]}
   */
  codes() {
    const { schemas, examples } = this.document.components;
    const uses = this.tags().flatMap((/** @type {Part} */ tag) =>
      tag.operations.flatMap((/** @type {Part} */ operation) =>
        Object.entries(operation.responses).flatMap(([status, response]) =>
          this.codesOf(response).map((code) => ({ code, status, operation: operation.id })),
        ),
      ),
    );
    return schemas.ProblemCode.enum.map((/** @type {string} */ code) => {
      const here = uses.filter((/** @type {Part} */ use) => use.code === code);
      /** @param {string} name */
      const each = (name) =>
        [...new Set(here.map((/** @type {Part} */ use) => use[name]))].filter((one) => one !== "default");
      return { code, statuses: each("status"), operations: each("operation"), example: examples[code]?.value ?? null };
    });
  }

  /**
   * The parameters of an operation, those that all operations of its path share first.
   * @param {Part} operation
   * @returns {Part[]}
   */
  parametersOf(operation) {
    return [...(operation.shared ?? []), ...(operation.parameters ?? [])].map((one) => this.resolve(one));
  }

  /**
   * What the body of an operation may be; undefined for an operation without one.
   * @param {Part} operation
   * @returns {Part | undefined}
   */
  contentOf(operation) {
    return operation.requestBody && Object.values(this.resolve(operation.requestBody).content)[0];
  }

  /**
   * The problem codes that an operation can answer.
   * @param {Part} operation
   * @returns {string[]}
   */
  codesOfOperation(operation) {
    return [...new Set(Object.values(operation.responses).flatMap((response) => this.codesOf(response)))];
  }

  /**
   * The problem codes that an operation can be asked for: those of the statuses that it declares, and internal_error.
   * @param {Part} operation
   * @returns {string[]}
   */
  faultsOf(operation) {
    const { default: _, ...declared } = operation.responses;
    return [...this.codesOfOperation({ responses: declared }), "internal_error"];
  }

  /**
   * The problem codes of a response.
   * @param {Part} response
   * @returns {string[]}
   */
  codesOf(response) {
    return this.resolve(response)["x-problem-codes"] ?? [];
  }
}

/**
 * The ledger's numbers that a part of the contract cites.
 * @param {Part} part
 * @returns {string[]}
 */
export function decisionsOf(part) {
  return [part["x-decision"] ?? []].flat();
}

/**
 * The name that a reference ends with.
 * @param {string} reference
 */
export function lastStep(reference) {
  return reference.split("/").at(-1) ?? "";
}
