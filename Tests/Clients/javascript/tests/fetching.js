// Requests of backends with a token.
import { APP, MINUTE, SECRET, Clock, client, equal, failure, scene, server, that, timed } from "./scene.js";

const hour = { token: 3600 }, INVALID = { "WWW-Authenticate": 'AppCheck realm="a", error="invalid_token"' };
const header = call => call.headers["x-firebase-appcheck"];

/** A client of a token server, with a backend of these replies that may have tokens. */
async function backend(replies, work, options) {
  const found = await server(...replies);
  // All scripted servers have one origin.
  await client([hour], (check, tokens) => work(check, `${found.address}/orders`, found, tokens), { origins: [scene.scripted], ...options });
}

export async function aListedOriginGetsTheToken() {
  await backend([{ body: '{"orders":[]}' }], async (check, url, found) => {
    const response = await check.fetch(url, { method: "PUT", headers: { "X-Firebase-AppCheck": "of the caller", "Content-Type": "application/json" }, body: "{}" });
    equal(await response.json(), { orders: [] });
    await (await check.fetch(new URL(url))).text();
    await (await check.fetch(new Request(url, { method: "POST", body: "text" }))).text();
    const calls = await found.calls();
    equal(calls.map(call => `${call.method} ${call.body}`), ["PUT {}", "GET ", "POST text"]);
    const { token } = await check.getToken();
    equal(calls.map(header), [token, token, token]);
  });
}

export async function noOtherOriginGetsIt() {
  await backend([{}], async (check, url, found, tokens) => {
    // The same server under another name is another origin.
    const other = url.replace("127.0.0.1", "localhost");
    await (await check.fetch(url, { headers: { "X-Firebase-AppCheck": "of the caller" } })).text();
    await (await check.fetch(new Request(url, { headers: { "X-Firebase-AppCheck": "of the caller" } }))).text();
    equal((await found.calls()).map(header), [undefined, undefined]);
    await tokens.count(0);
    await (await check.fetch(other)).text();
    that(header((await found.calls())[2]).length > 100);
  }, { origins: [scene.scripted.replace("127.0.0.1", "localhost")] });
}

export async function aRefusedTokenIsReplacedOnce() {
  const clock = new Clock();
  try {
    await backend([{}, { status: 401, headers: INVALID }, {}, { status: 401, headers: INVALID }], async (check, url, found) => {
      await (await check.fetch(url)).text();
      await clock.pass(2 * MINUTE);
      equal((await check.fetch(url, { method: "POST", body: "a" })).status, 200);
      const [first, second, third] = await found.calls();
      that(header(first) === header(second) && header(second) !== header(third));
      equal([second.body, third.body], ["a", "a"]);
      // One that is younger than a minute is not replaced: a backend that refuses each would make each call an exchange.
      equal((await check.fetch(url)).status, 401);
      await found.count(4);
      await clock.pass(2 * MINUTE);
      equal((await check.fetch(url)).status, 401);
      await found.count(6);
    });
  } finally {
    clock.putAway();
  }
}

export async function another401IsNotAboutTheToken() {
  const clock = new Clock();
  try {
    for (const [headers, times] of [
      [{ "WWW-Authenticate": "Bearer" }, 1], [{ "WWW-Authenticate": 'Bearer realm="a", AppCheck realm="a", error="invalid_token"' }, 2], [{ "WWW-Authenticate": 'AppCheck error="insufficient_scope"' }, 1],
      // A page cannot see it: it may be about the token.
      [{ "Access-Control-Expose-Headers": "etag" }, 2],
    ]) {
      await backend([{ status: 401, headers }], async (check, url, found) => {
        await check.getToken();
        await clock.pass(2 * MINUTE);
        equal((await check.fetch(url)).status, 401);
        await found.count(times);
      });
    }
  } finally {
    clock.putAway();
  }
}

export async function aBodyThatCannotBeSentAgainIsNot() {
  const clock = new Clock();
  const bytes = new TextEncoder().encode("a");
  try {
    for (const [make, times] of [
      [() => ["a"], 2], [() => [bytes], 2], [() => [bytes.buffer], 2], [() => [new Blob(["a"])], 2], [() => [new URLSearchParams("a")], 2], [() => [new FormData()], 2],
      [url => [undefined, new Request(url, { method: "POST", body: "a" })], 1],
    ]) {
      await backend([{ status: 401, headers: INVALID }], async (check, url, found) => {
        await check.getToken();
        await clock.pass(2 * MINUTE);
        const [body, request] = make(url);
        equal((await check.fetch(request ?? url, body === undefined ? undefined : { method: "POST", body })).status, 401);
        await found.count(times);
      });
    }
  } finally {
    clock.putAway();
  }
}

export async function eachRequestMayHaveATokenOfItsOwn() {
  await backend([{}, { status: 401, headers: INVALID }, {}], async (check, url, found, tokens) => {
    await (await check.fetch(url, undefined, { limitedUse: true })).text();
    await (await check.fetch(url, undefined, { limitedUse: true })).text();
    equal(new Set((await found.calls()).map(header)).size, 3);
    equal((await tokens.calls()).map(call => JSON.parse(call.body).limitedUse), [true, true, true]);
  });
}

export async function noRedirectTakesTheTokenAlong() {
  const elsewhere = await server({}), next = await server({ status: 307, headers: { Location: `${elsewhere.address}/steal` } });
  for (const target of [`${elsewhere.address}/steal`, `${next.address}/next`, `${elsewhere.address.replace("127.0.0.1", "localhost")}/steal`]) {
    for (const status of [301, 302, 303, 307, 308]) {
      await backend([{ status, headers: { Location: target } }], async (check, url, found) => {
        await failure("redirected", check.fetch(url));
        await failure("redirected", check.fetch(url, { redirect: "error" }));
        const response = await check.fetch(url, { redirect: "manual" });
        that(response.type === "opaqueredirect" || response.status === status);
        await found.count(3);
      });
    }
  }
  await elsewhere.count(0);
  await next.count(0);
}

export async function aTokenIsNotSentInAURL() {
  await backend([{}], async (check, url, found) => {
    const { token } = await check.getToken();
    await failure("insecure", check.fetch(`${url}?token=${token}`));
    await found.count(0);
  });
}

export async function aPageMayPutItInThePlaceOfItsOwn() {
  const own = globalThis.fetch;
  await backend([{}], async (check, url, found) => {
    globalThis.fetch = check.fetch;
    try {
      await (await fetch(url)).text();
    } finally {
      globalThis.fetch = own;
    }
    await found.count(1);
  });
}

export async function anInputThatChangesItsMindIsReadOnce() {
  await backend([{}], async (check, url, found) => {
    let count = 0;
    const input = { toString: () => count++ === 0 ? url : "http://127.0.0.1:1/steal" };
    await (await check.fetch(input)).text();
    await found.count(1);
  });
  const clock = new Clock();
  try {
    await backend([{ status: 401, headers: INVALID }], async (check, url, found) => {
      await check.getToken();
      await clock.pass(2 * MINUTE);
      let count = 0;
      const listed = url.replace("127.0.0.1", "localhost");
      const input = { toString: () => count++ === 0 ? listed : url };
      equal((await check.fetch(input)).status, 401);
      await found.count(1);
    }, { origins: [scene.scripted.replace("127.0.0.1", "localhost")] });
  } finally {
    clock.putAway();
  }
}

export async function theSignalOfTheCallerEndsTheRequest() {
  await backend([{ way: "hang" }], async (check, url) => {
    const controller = new AbortController();
    await check.getToken();
    const asked = check.fetch(url, { signal: controller.signal }).then(() => "answered", error => error.name);
    controller.abort();
    equal(await asked, "AbortError");
  });
}

export async function withoutATokenNothingIsSent() {
  await backend([{}], async (check, url, found) => {
    await failure("providerFailed", check.fetch(url));
    await found.count(0);
  }, { provider: async () => { throw new Error("of the page"); } });
}
