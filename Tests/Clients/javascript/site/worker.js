// A worker of any kind: it answers a message with what became of getting a token.
import { AppCheck, debug } from "/app-check.js";

async function outcome({ endpoint, app, secret }) {
  try {
    const check = new AppCheck({ endpoint, app, provider: debug(secret) });
    const found = [await check.getToken(), await check.getToken(), await check.getLimitedUseToken()];
    check.close();
    return { tokens: found.map(each => each.token) };
  } catch (error) {
    return { code: error.code, message: error.message };
  }
}

addEventListener("message", async event => (event.ports[0] ?? self).postMessage(await outcome(event.data)));
addEventListener("connect", event => {
  const [port] = event.ports;
  port.onmessage = async message => port.postMessage(await outcome(message.data));
});
