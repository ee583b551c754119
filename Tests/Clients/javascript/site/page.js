// What a page needs for tests that drive it from outside.
import "/site/outcome.js";
import * as module from "/app-check.js";

globalThis.violations = [];
addEventListener("securitypolicyviolation", event => violations.push(`${event.effectiveDirective} ${event.blockedURI}`));
globalThis.module = module;
// The policy of the page demands it for the address of a worker, and has no other for the module.
const policy = trustedTypes.createPolicy("tests", { createScriptURL: address => address });
globalThis.addressOf = address => policy.createScriptURL(address);
globalThis.isReady = true;
