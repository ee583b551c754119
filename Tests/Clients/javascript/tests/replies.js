// A server that fails, and one that means no good.
import { APP, HOUR, MINUTE, SECOND, SECRET, client, equal, encoded, failure, jwt, reply, scene, server, that, timed, within } from "./scene.js";

async function waits(code, least, most, status, headers = {}) {
  await timed([{ status, headers }], async (check, clock, found) => {
    const error = await failure(code, check.getToken());
    // A redirect has no status in a page, and a success of another form is no failure of the server.
    that(error.status === status || code === "redirected" || status < 300, `${error.status}`);
    within(error.retryAfterMillis, least, most);
    await clock.pass(error.retryAfterMillis - 500);
    within((await failure(code, check.getLimitedUseToken())).retryAfterMillis, 1, 501);
    await found.count(1);
    await clock.pass(501);
    await failure(code, check.getToken());
    await found.count(2);
  });
}

export async function nothingIsSentForAsLongAsTheServerAsks() {
  const exposed = { "Access-Control-Expose-Headers": "retry-after, date" };
  await waits("throttled", 7 * SECOND, 10_501, 429, { "Retry-After": "7" });
  await waits("unavailable", HOUR, HOUR + 30_001, 503, { "Retry-After": "86400" });
  await waits("unavailable", 30 * SECOND, 45_001, 503, {
    ...exposed, "Retry-After": "Wed, 21 Oct 2026 07:28:30 GMT", Date: "Wed, 21 Oct 2026 07:28:00 GMT" });
  await waits("throttled", 2 * SECOND, 3001, 429, { "Retry-After": "soon" });
  await waits("throttled", 2 * SECOND, 3001, 429, { "Retry-After": "-7" });
  await waits("refused", 2 * SECOND, 3001, 403, { "Retry-After": "7" });
}

export async function otherFailuresHaveAPause() {
  for (const [code, status, headers] of [
    ["notConfigured", 404], ["rejected", 400], ["rejected", 401], ["rejected", 401, { "WWW-Authenticate": 'Basic realm="a"' }], ["unavailable", 500],
    ["redirected", 302, { Location: "/elsewhere" }], ["malformedReply", 204], ["malformedReply", 206],
  ]) {
    await waits(code, 2 * SECOND, 3001, status, headers);
  }
}

export async function pausesGrowToAnHourAndASuccessEndsTheCounting() {
  await timed([...Array(14).fill({ status: 403 }), { token: 3600 }, { status: 403 }], async (check, clock) => {
    for (let failures = 1; failures <= 14; failures++) {
      const { retryAfterMillis } = await failure("refused", check.getToken());
      const least = Math.min(SECOND * 2 ** failures, HOUR);
      within(retryAfterMillis, least, Math.min(least * 1.5, HOUR) + 1);
      await clock.pass(retryAfterMillis + 1);
    }
    const { token } = await check.getToken();
    within((await failure("refused", check.getToken(true))).retryAfterMillis, 2 * SECOND, 3001);
    equal((await check.getToken()).token, token);
  });
}

export async function aServerThatIsAwayIsAskedAgainAtOnce() {
  await client([{ way: "cut" }, { way: "cut" }, { token: 3600 }], async check => {
    for (let count = 0; count < 2; count++) equal((await failure("unreachable", check.getToken())).retryAfterMillis, undefined);
    await check.getToken();
  });
}

/** A platform that sends a request again after a lost answer would use evidence twice. */
export async function aRequestWithoutAnAnswerIsNotSentTwice() {
  await client([{ way: "cut" }], async (check, found) => {
    await failure("unreachable", check.getToken());
    await found.count(1);
  });
}

export async function aReplyOfAnotherFormIsNoToken() {
  const token = jwt({});
  const polluted = `{"__proto__":{"token":"${token}","ttl":"3600s"}}`;
  const replies = [
    "", "[]", "null", "7", "[".repeat(60_000), polluted, `{"constructor":{"prototype":{"token":"${token}","ttl":"3600s"}}}`, `{"token":"${token}"}`,
    '{"token":7,"ttl":"3600s"}', `{"token":["${token}"],"ttl":"3600s"}`, `{"token":"${token}","ttl":3600}`, `{"token":"${token}","ttl":"1e9s"}`,
    `{"token":"${token}","ttl":"-1s"}`, `{"token":"${token}","ttl":"0s"}`, `{"token":"${token}","ttl":"999999999s"}`, `{"token":"${token}","ttl":"604801s"}`,
    `{"token":"${token}","ttl":"٣٦٠٠s"}`, `{"token":"${token}","ttl":["3600s"]}`, '{"token":"a.b.c","ttl":"3600s"}', '{"token":"no jwt","ttl":"3600s"}',
    `{"token":"${jwt({ x: "y".repeat(20_000) })}","ttl":"3600s"}`, `{"token":"${jwt({ exp: 1000 })}","ttl":"3600s"}`, `{"token":"${token}\\n","ttl":"3600s"}`,
    `{"token":"${token}.x","ttl":"3600s"}`, `<html>${token}</html>`, `\u00ff{"token":"${token}","ttl":"3600s"}`,
  ];
  for (const body of replies) {
    await client([{ body }], async check => {
      const error = await check.getToken().catch(found => found);
      that(error.code === "malformedReply", `${body.slice(0, 100)} … ${body.slice(-60)}: ${error}`);
    });
  }
}

export async function aTokenOfAnotherAppIsNotUsed() {
  for (const claims of [
    { sub: "1:1234567890:web:other" }, { sub: ["1:1234567890:web:321abc456def7890"] }, { aud: ["projects/other"] }, { aud: "projects/other" }, { aud: undefined },
    { sub: undefined }, { aud: { 0: "projects/example-project", length: 1 } }, { aud: [["projects/example-project"]] },
  ]) {
    await client([reply(jwt(claims))], async check => {
      const error = await failure("foreignToken", check.getToken());
      that(!error.message.includes("eyJ"));
    });
  }
  // A claim that is no member of the object's own.
  const claims = `{"__proto__":{"sub":"1:1234567890:web:321abc456def7890","aud":"projects/example-project"},"iat":1,"exp":3601}`;
  const token = `${encoded({ alg: "RS256" })}.${btoa(claims).replace(/=/g, "")}.c2ln`;
  await client([reply(token)], check => failure("foreignToken", check.getToken()));
}

/** A script of the page may have extended all objects. */
export async function aPollutedPrototypeIsNoReply() {
  const token = jwt({});
  Object.defineProperties(Object.prototype, {
    token: { value: token, configurable: true }, ttl: { value: "3600s", configurable: true }, sub: { value: "1:1234567890:web:321abc456def7890", configurable: true },
    aud: { value: ["projects/example-project"], configurable: true } });
  try {
    const polluted = new scene.module.AppCheck({ endpoint: (await server({ body: "{}" })).address, app: APP, provider: scene.module.debug(SECRET) });
    await failure("malformedReply", polluted.getToken());
    polluted.close();
    const foreign = new scene.module.AppCheck({ endpoint: "https://assay.example.com", app: APP, provider: async () => ({ token: `${encoded({})}.e30.c2ln`, ttl: "60s" }) });
    await failure("foreignToken", foreign.getToken());
    foreign.close();
  } finally {
    for (const name of ["token", "ttl", "sub", "aud"]) delete Object.prototype[name];
  }
}

/** JSON that somebody merged without care may have extended all objects with what is no function. */
export async function dataInThePrototypesChangesNothing() {
  const data = {
    app: "projects/other/apps/other", origins: [scene.scripted], storage: "memory", requestLimitMillis: 1, fetchLimitMillis: 1, retryAfterMillis: HOUR,
    decision: "d", code: "refused", message: "m", count: 64, pause: HOUR, retry: MINUTE, text: jwt({}), age: 0, life: HOUR, version: 1, savedAt: 1, failure: {},
    enterprise: true, container: "#a" };
  Object.defineProperties(Object.prototype, Object.fromEntries(Object.entries(data).map(
    ([name, value]) => [name, { value, configurable: true, enumerable: true, writable: true }])));
  try {
    const { AppCheck, recaptcha } = scene.module, found = await server({ status: 500, body: "{}" }, { token: 3600 });
    const check = new AppCheck({ endpoint: found.address, app: APP, provider: recaptcha(() => "r") });
    const error = await failure("unavailable", check.getToken());
    equal([error.status, error.decision], [500, undefined]);
    within(error.retryAfterMillis, 2 * SECOND, 3001);
    const [call] = await found.calls();
    that(call.target.endsWith(":exchangeRecaptchaV3Token"), call.target);
    await (await check.fetch(`${found.address}/orders`)).text();
    equal((await found.calls())[1].headers["x-firebase-appcheck"], undefined);
    check.close();
  } finally {
    for (const name of Object.keys(data)) delete Object.prototype[name];
  }
}

export async function anEndlessReplyEndsAtItsLimit() {
  await client([{ way: "flood" }], async check => {
    const error = await failure("malformedReply", check.getToken());
    that(error.message.includes("too long"), error.message);
  });
  await client([{ body: JSON.stringify({ token: jwt({}), ttl: "3600s", x: "y".repeat(65_536) }) }], check => failure("malformedReply", check.getToken()));
}

export async function aSlowServerIsNotWaitedForWithoutEnd() {
  for (const way of ["drip", "headers", "hang"]) {
    await client([{ way }], async (check, found) => {
      await failure("unreachable", check.getToken());
      await found.count(1);
    }, { requestLimitMillis: 1500 });
  }
}

export async function whatAServerSaysIsShortenedAndMovesNoCursor() {
  const message = `\u001b[2J\u202e\u2028\ud800${"x".repeat(5000)}`;
  await client([{ status: 500, body: JSON.stringify({ error: { message } }), headers: { "X-Assay-Decision": "two words" } }], async check => {
    const error = await failure("unavailable", check.getToken());
    that(error.message.length < 500 && /^[ -~]+$/.test(error.message), error.message);
    equal(error.decision, undefined);
  });
  await client([{ status: 400, body: '{"error":{"status":"FAILED_PRECONDITION","message":["a"]}}', headers: { "X-Assay-Decision": "d-1" } }], async check => {
    equal((await failure("notConfigured", check.getToken())).decision, "d-1");
  });
  for (const body of ['{"error":"text"}', '{"error":null}', "[]", "<html>"]) {
    await client([{ status: 403, body }], check => failure("refused", check.getToken()));
  }
}

export async function evidenceGoesToTheGivenAddressAlone() {
  const elsewhere = await server({ token: 3600 });
  for (const status of [301, 302, 303, 307, 308]) {
    await client([{ status, headers: { Location: `${elsewhere.address}/v1/${APP}:exchangeDebugToken` } }], check => failure("redirected", check.getToken()));
  }
  await elsewhere.count(0);
}

export async function plainHttpIsForThisMachine() {
  const { AppCheck } = scene.module;
  const provider = async () => {};
  for (const endpoint of [
    "http://assay.example.com", "http://localhost.example.com", "http://10.0.2.2:8080", "http://127.0.0.1.example.com", "assay.example.com", "https://assay.example.com?a",
    "https://a@assay.example.com", "https://assay.example.com/#a", "", undefined, "javascript:alert(1)", "ftp://localhost", "http://localhost@example.com/",
  ]) {
    await failure("insecure", async () => new AppCheck({ endpoint, app: APP, provider }));
    await failure("insecure", async () => new AppCheck({ endpoint: "https://assay.example.com", app: APP, provider, origins: [endpoint] }));
  }
  for (const app of ["projects/p/apps/", "projects/p", "apps/a", "projects/../apps/a", "projects/p/apps/a/b", "projects/p/apps/a?b", "projects/p/apps/a\n", undefined]) {
    await failure("invalidConfiguration", async () => new AppCheck({ endpoint: "https://assay.example.com", app, provider }));
  }
  await failure("invalidConfiguration", async () => new AppCheck({ endpoint: "https://assay.example.com", app: APP }));
  for (const endpoint of ["http://localhost:8080", "http://[::1]:8080/v1", "http://127.0.0.1", "https://assay.example.com/base/v1/"]) {
    new AppCheck({ endpoint, app: APP, provider }).close();
  }
}

export async function theRequestIsAsDocumented() {
  const { AppCheck, debug } = scene.module, found = await server({ token: 3600 });
  const check = new AppCheck({ endpoint: `${found.address}/base/v1/`, app: APP, provider: debug(SECRET) });
  await check.getToken();
  check.close();
  const [call] = await found.calls();
  equal(`${call.method} ${call.target}`, `POST /base/v1/${APP}:exchangeDebugToken`);
  equal(call.headers["content-type"], "application/json");
  equal(call.body, `{"debugToken":"${SECRET}","limitedUse":false}`);
  equal([call.headers.cookie, call.headers.referer, call.headers.authorization], [undefined, undefined, undefined]);
}
