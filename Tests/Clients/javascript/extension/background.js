// A service worker that Chromium stops and starts as it likes.
import "./outcome.js";
import { AppCheck, debug } from "./app-check.js";

chrome.runtime.onMessage.addListener(({ endpoint, app, secret }, _, answer) => {
  const check = new AppCheck({ endpoint, app, provider: debug(secret) });
  outcome(Promise.all([check.getToken(), check.getLimitedUseToken()])).then(answer).finally(check.close);
  return true;
});
