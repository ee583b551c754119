import { AppCheck, debug } from "../app-check.js";

const element = id => document.getElementById(id);
const values = form => Object.fromEntries(new FormData(form));
let check, lastError;

function show(text, isError) {
  const line = document.createElement("li");
  line.textContent = `${new Date().toLocaleTimeString()}  ${text}`;
  line.classList.toggle("error", isError === true);
  element("events").prepend(line);
}

/** Says what went wrong, for how long nothing is sent, and by what an operator finds the reason. */
function showError(error) {
  // A listener and a caller are told of the same one.
  if (error === lastError) return;
  lastError = error;
  const pause = error.retryAfterMillis ? ` Nothing is sent for ${Math.ceil(error.retryAfterMillis / 1000)} s.` : "";
  show(`${error.code ?? error.name}: ${error.message}${error.decision ? ` (decision ${error.decision})` : ""}${pause}`, true);
}

function showToken({ token, expireTimeMillis }) {
  const end = new Date(expireTimeMillis).toLocaleTimeString();
  element("token").textContent = `${token.slice(0, 60)}… (${token.length} characters), until ${end}`;
}

/** Opens the app's tokens, and keeps them fresh. */
element("server").addEventListener("submit", event => {
  event.preventDefault();
  const { endpoint, app, secret } = values(event.target);
  try {
    check?.close();
    check = new AppCheck({ endpoint, app, provider: debug(secret), origins: [new URL(values(element("call")).url).origin] });
  } catch (error) {
    showError(error);
    return;
  }
  check.onTokenChanged(token => {
    showToken(token);
    show("A new session token.");
  }, showError);
  for (const button of document.querySelectorAll("button")) button.disabled = false;
});

const onClick = (id, work) => element(id).addEventListener("click", () => work().catch(showError));
onClick("get", async () => {
  showToken(await check.getToken());
  show("The session token, from memory if it has more than five minutes left.");
});
onClick("renew", async () => showToken(await check.getToken(true)));
onClick("single", async () => {
  const { token } = await check.getLimitedUseToken();
  show(`A token for one use of ${token.length} characters, which is kept nowhere.`);
});

element("call").addEventListener("submit", async event => {
  event.preventDefault();
  try {
    const response = await check.fetch(values(event.target).url);
    element("answer").textContent = `${response.status} ${(await response.text()).slice(0, 2000)}`;
  } catch (error) {
    showError(error);
  }
});
