// With a real server.
import { scene, equal, failure, that } from "./scene.js";

const claims = token => JSON.parse(atob(token.split(".")[1].replace(/-/g, "+").replace(/_/g, "/")));

async function client(provider, work, app = scene.app) {
  const check = new scene.module.AppCheck({ endpoint: scene.endpoint, app, provider, storage: "memory" });
  try {
    await work(check);
  } finally {
    check.close();
  }
}

export async function aDebugTokenGivesTokens() {
  await client(scene.module.debug(scene.secret), async check => {
    const [session, again, single] = [await check.getToken(true), await check.getToken(), await check.getLimitedUseToken()];
    equal(again.token, session.token);
    that(single.token !== session.token);
    equal(claims(session.token).sub, scene.app.split("/").at(-1));
    const { iat, exp } = claims(single.token);
    equal(exp - iat, 300);
  });
}

export async function aTokenOfTheBackendGivesOne() {
  await client(scene.module.custom(async () => scene.custom), async check => {
    equal(claims((await check.getToken(true)).token).sub, scene.app.split("/").at(-1));
  });
}

const pages = "projects/example-project/apps/1:1234567890:web:pages";
let challenges = 0;

/** The client and the server agree on the methods and their fields; a token of a service is exchanged once. */
export async function challengesOfPagesGiveTokens() {
  const { turnstile, hcaptcha, recaptcha } = scene.module;
  for (const [name, provider] of Object.entries({ turnstile, hcaptcha, recaptcha_v3: recaptcha })) {
    const tokens = [];
    await client(provider(async () => {
      tokens.push(`human-${name}-${Date.now()}-${++challenges}`);
      return tokens.at(-1);
    }), async check => {
      const [session, single] = [await check.getToken(true), await check.getLimitedUseToken()];
      equal(claims(session.token).provider, name);
      const { iat, exp } = claims(single.token);
      equal(exp - iat, 300);
    }, pages);
    await client(provider(async () => tokens[0]), async check => {
      equal((await failure("refused", check.getLimitedUseToken())).status, 403);
    }, pages);
    await client(provider(async () => "nobody"), async check => {
      equal((await failure("refused", check.getLimitedUseToken())).status, 403);
    }, pages);
  }
}

/** So that a page is not silent for a day. */
export async function aLowScoreIsAskedAgainSoon() {
  await client(scene.module.recaptcha(async () => `robot-${Date.now()}-${++challenges}`), async check => {
    const error = await failure("throttled", check.getLimitedUseToken());
    equal(error.status, 429);
    that(error.retryAfterMillis <= 3001);
  }, pages);
}

export async function aRefusalNamesItsDecision() {
  await client(scene.module.debug("11111111-2222-4333-8444-555555555555"), async check => {
    const error = await failure("refused", check.getLimitedUseToken());
    equal(error.status, 403);
    that(/^[!-~]{8,}$/.test(error.decision), error.decision);
    that(error.message.includes("The server says: "), error.message);
    that(error.retryAfterMillis >= 2000 && error.retryAfterMillis <= 3001);
  });
}

export async function whatTheServerDoesNotHaveIsNotConfigured() {
  await client(scene.module.debug(scene.secret), async check => {
    equal((await failure("notConfigured", check.getToken())).status, 404);
  }, "projects/example-project/apps/1:1234567890:web:other");
  await client(({ exchange }) => exchange("exchangeDeviceCheckToken", { deviceToken: "AAAA" }), async check => {
    equal((await failure("notConfigured", check.getLimitedUseToken())).status, 400);
  });
}

export async function aRequestThatIsNoneIsRejected() {
  await client(async ({ exchange }) => exchange("exchangeDebugToken", { debugToken: { a: 1 } }), async check => {
    equal((await failure("rejected", check.getLimitedUseToken())).status, 400);
  });
}
