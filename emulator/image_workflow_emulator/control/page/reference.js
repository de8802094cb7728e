/**
 * The reference: Swagger UI over the contract. This file fills it with a credential of the sandbox, a new Idempotency-Key
 * for each write and a field for Emulator-Fault, and leads to the explanation of each answer.
 */

import { deepLinkWithoutLink, keepAccessible } from "./accessible.js";
import { newIdempotencyKey } from "./client.js";
import { faultsOf } from "./faults.js";
import { ask, authorization, onTokenNeeded, pageAddress, ROOT, shownSandbox } from "./service.js";
import { askForToken } from "./token.js";
import { byId, html, render } from "./ui.js";

const SERVICE = new URL("../v1", ROOT);
const KEY_HEADER = "Idempotency-Key";
const DARK = matchMedia("(prefers-color-scheme: dark)");

/** The keys that were made here and are sent already: the next write gets another. */
const sentKeys = new Set();
/** What the fields of all writes begin with. */
const FIRST_KEY = newIdempotencyKey();

/** The contract with this emulator's address, a key for each write, and the header that asks for a problem. */
function prepared(contract) {
  const { components, paths } = contract;
  components.parameters.IdempotencyKey.example = FIRST_KEY;
  for (const path of Object.values(paths)) {
    for (const [method, operation] of Object.entries(path)) {
      if (method === "parameters") continue;
      operation.parameters = [...(operation.parameters ?? []), faultHeader(faultsOf(operation, components))];
    }
  }
  return { ...contract, servers: [{ url: SERVICE.href, description: "This emulator" }] };
}

function faultHeader(codes) {
  const description = "Asks the emulator for this problem, as the service would answer it.";
  return { name: "Emulator-Fault", in: "header", description, schema: { type: "string", enum: codes } };
}

/** Give a write another key where the one in its field was made here and is sent. */
function renewKey(system, path, method) {
  const parameters = system.specSelectors.specResolvedSubtree(["paths", path, method, "parameters"]);
  const parameter = parameters?.find((one) => one.get("name") === KEY_HEADER);
  if (!parameter) return;
  const value = system.specSelectors.parameterWithMetaByIdentity([path, method], parameter).get("value");
  const isSent = sentKeys.has(value);
  if (!isSent && value !== FIRST_KEY) return;
  const key = isSent ? newIdempotencyKey() : value;
  sentKeys.add(key);
  if (isSent) system.specActions.changeParamByIdentity([path, method], parameter, key, false);
}

/** What Swagger UI does otherwise here. */
const plugin = () => ({
  wrapComponents: { DeepLink: deepLinkWithoutLink },
  statePlugins: {
    spec: {
      wrapActions: {
        updateJsonSpec: (original) => (contract) => original(prepared(contract)),
        execute: (original, system) => (request) => {
          renewKey(system, request.path, request.method);
          return original(request);
        },
      },
    },
  },
});

/** Requests for the contract bring the control token; those to the service go to where this page came from. */
function sending(request) {
  if (request.loadSpec) Object.assign(request.headers, authorization());
  return request;
}

/** Lead to the explanation of an answer. */
function answered(response) {
  const requestId = response.headers?.["request-id"];
  if (requestId?.startsWith("req_")) void showAnswer(response.status, requestId);
  return response;
}

async function showAnswer(status, requestId) {
  const entry = await ask("GET", `requests/${encodeURIComponent(requestId)}`).catch(() => null);
  if (!entry) return;
  const work = entry.work && html`<a href=${pageAddress(`work/${entry.work}`)}>Show the work</a>`;
  const view = html`
    <span>${entry.operation ?? entry.path}: ${status} ${entry.code}${entry.replayed && " replayed"}</span>
    <a href=${pageAddress(`requests/${entry.sequence}`)}>Explain in Requests</a>${work}
  `;
  render(view, byId("last-answer"));
}

function followColours() {
  document.documentElement.classList.toggle("dark-mode", DARK.matches);
}

async function show() {
  // Asks for the control token, where there is one, before the contract is read.
  const { env } = await shownSandbox();
  const { SwaggerUIBundle } = /** @type {any} */ (window);
  const ui = SwaggerUIBundle({
    dom_id: "#reference",
    url: new URL("contract.yaml", ROOT).href,
    deepLinking: true,
    docExpansion: "list",
    defaultModelsExpandDepth: 0,
    displayRequestDuration: true,
    filter: true,
    tryItOutEnabled: true,
    validatorUrl: null,
    layout: "BaseLayout",
    plugins: [plugin],
    requestInterceptor: sending,
    responseInterceptor: answered,
    onComplete: () => ui.preauthorizeApiKey("apiCredential", env.IMAGE_WORKFLOW_API_KEY),
  });
}

onTokenNeeded(askForToken);
byId("page-link").setAttribute("href", pageAddress().href);
byId("decisions-link").setAttribute("href", pageAddress("help/reference/decisions").href);
byId("codes-link").setAttribute("href", pageAddress("help/reference/problem-codes").href);
keepAccessible(byId("reference"));
followColours();
DARK.addEventListener("change", followColours);
void show();
