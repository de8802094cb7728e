/** The problems that an operation can be asked for with the header Emulator-Fault. */

/**
 * The problem codes of the statuses that an operation declares, and internal_error.
 * @param {any} operation of the contract
 * @param {any} components of the contract
 * @returns {string[]}
 */
export function faultsOf(operation, components) {
  const declared = Object.entries(operation?.responses ?? {}).filter(([status]) => status !== "default");
  const codes = declared.flatMap(([, response]) => {
    const { $ref } = /** @type {any} */ (response);
    const resolved = $ref ? components.responses[$ref.split("/").at(-1)] : response;
    return resolved["x-problem-codes"] ?? [];
  });
  return [...new Set([...codes, "internal_error"])];
}
