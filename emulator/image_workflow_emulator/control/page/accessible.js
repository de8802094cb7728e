/**
 * What Swagger UI leaves undone for people who use a keyboard or a screen reader: names of fields, code that scrolls,
 * landmarks, and no link within a button. Colours are in reference.css.
 */

const FIELDS = "select:not([aria-label]), textarea:not([aria-label])";
const CODE = "pre.microlight:not([tabindex])";
/** Parts that are in no landmark, with a role and a name. */
const LANDMARKS = [
  [".information-container", "region", "About the contract"],
  [".scheme-container", "region", "Server and authorization"],
  [".filter-container", "search", "Operations"],
];

/** Keep an element accessible while Swagger UI draws in it. */
export function keepAccessible(root) {
  const observer = new MutationObserver(() => mend(root));
  observer.observe(root, { childList: true, subtree: true });
}

function mend(root) {
  for (const field of root.querySelectorAll(FIELDS)) field.setAttribute("aria-label", nameOf(field));
  for (const code of root.querySelectorAll(CODE)) code.setAttribute("tabindex", "0");
  for (const [selector, role, name] of LANDMARKS) {
    const part = root.querySelector(`${selector}:not([role])`);
    part?.setAttribute("role", role);
    part?.setAttribute("aria-label", name);
  }
  root.querySelector(".close-modal:not([aria-label])")?.setAttribute("aria-label", "Close");
  // The name of a button contains what is written on it.
  root.querySelector("[aria-label='Remove authorization']")?.setAttribute("aria-label", "Logout: remove authorization");
  root.querySelector(".dialog-ux h6:not([aria-level])")?.setAttribute("aria-level", "5");
}

/** The name of a field that has none. */
function nameOf(field) {
  const parameter = field.closest("tr[data-param-name]");
  if (parameter) return parameter.dataset.paramName;
  if (field.id === "servers") return "Server";
  if (field.matches("textarea")) return "Request body";
  if (field.matches(".content-type")) return "Media type";
  return "Example";
}

/** The path of an operation as a text: Swagger UI has a link there, within the button that opens the operation. */
export const deepLinkWithoutLink = (DeepLink, { React }) =>
  function DeepLinkOutsideOfButtons(props) {
    const isOperation = props.path.includes("/");
    return isOperation ? React.createElement("span", null, props.text) : React.createElement(DeepLink, props);
  };
