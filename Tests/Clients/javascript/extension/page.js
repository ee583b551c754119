import "./outcome.js";
import * as module from "./app-check.js";

globalThis.module = module;
globalThis.isReady = true;
