// When tokens are fetched, kept, renewed and given out.
import { APP, Clock, DAY, HOUR, MINUTE, SECOND, SECRET, client, equal, failure, jwt, reply, scene, server, that, timed, until, within } from "./scene.js";

const hour = { token: 3600 };

export async function aTokenIsGivenOutWhileItHasMoreThanFiveMinutes() {
  await timed([hour], async (check, clock, found) => {
    const first = await check.getToken();
    await clock.pass(54 * MINUTE + 59 * SECOND);
    equal((await check.getToken()).token, first.token);
    await found.count(1);
    await clock.pass(2 * SECOND);
    that((await check.getToken()).token !== first.token);
    await found.count(2);
  });
}

export async function theEndIsByTheClockOfTheDevice() {
  await timed([hour], async (check, clock) => {
    const { expireTimeMillis } = await check.getToken();
    within(expireTimeMillis, clock.day + HOUR - SECOND, clock.day + HOUR);
  });
}

export async function callersAtTheSameTimeShareOneExchange() {
  await client([hour], async (check, found) => {
    const tokens = await Promise.all(Array.from({ length: 300 }, () => check.getToken()));
    equal(new Set(tokens.map(each => each.token)).size, 1);
    await found.count(1);
  });
}

export async function aForcedRefreshBringsAnotherTokenAndIsJoined() {
  await client([hour], async (check, found) => {
    const first = await check.getToken();
    const [one, other] = await Promise.all([check.getToken(true), check.getToken(true)]);
    that(one.token !== first.token && one.token === other.token);
    // Such as a click handler gives.
    equal((await check.getToken({ isTrusted: true })).token, one.token);
    await found.count(2);
  });
}

export async function aForcedCallerIsNotContentWithWhatWasThere() {
  await client([hour], async check => {
    const [, forced] = await Promise.all([check.getToken(), check.getToken(true)]);
    that((await check.getToken()).token === forced.token);
    const before = (await check.getToken()).token;
    const answers = await Promise.all([check.getToken(), check.getToken(true), check.getToken()]);
    that(answers[1].token !== before, "the forced caller got the old token");
  });
}

export async function tokensForOneUseAreForOneCallerAndNeverKept() {
  await client([hour], async (check, found) => {
    const session = await check.getToken();
    const several = await Promise.all([1, 2, 3].map(() => check.getLimitedUseToken()));
    equal(new Set([session, ...several].map(each => each.token)).size, 4);
    equal((await check.getToken()).token, session.token);
    equal((await found.calls()).map(call => JSON.parse(call.body).limitedUse), [false, true, true, true]);
  });
}

export async function exchangesAreSentOneAfterTheOtherAndTheSharedOneFirst() {
  const order = [];
  let running = 0;
  const provider = async ({ limitedUse }) => {
    equal(++running, 1);
    await new Promise(resolve => setTimeout(resolve, 20));
    running--;
    order.push(limitedUse);
    return { token: jwt({}), ttl: "3600s" };
  };
  await client([hour], async check => {
    const several = [1, 2, 3].map(() => check.getLimitedUseToken());
    await until(() => running === 1);
    await Promise.all([...several, check.getToken()]);
    equal(order, [true, false, true, true]);
  }, { provider });
}

export async function tooManyCallersAreTurnedAway() {
  await client([hour], async check => {
    const callers = Array.from({ length: 1500 }, () => check.getLimitedUseToken().catch(error => error.code));
    await until(async () => await Promise.race([callers[1499], Promise.resolve()]) === "tooManyCallers");
    check.close();
    const found = await Promise.all(callers);
    equal(found.filter(each => each === "tooManyCallers").length, 500);
    equal(found.filter(each => each === "closed").length, 1000);
  }, { provider: () => new Promise(() => {}) });
}

export async function whileSomebodyListensTheTokenIsRenewedAfterHalfOfItsLifeAndFiveMinutes() {
  await timed([hour], async (check, clock, found) => {
    const told = [];
    const end = check.onTokenChanged(token => told.push(token.token));
    await until(() => told.length === 1);
    await clock.pass(35 * MINUTE - SECOND);
    equal(told.length, 1);
    await clock.pass(2 * SECOND);
    await until(() => told.length === 2);
    that(told[0] !== told[1]);
    end();
    await clock.pass(2 * HOUR);
    await found.count(2);
  });
}

/** Otherwise tokens of a short life would be fetched without end. */
export async function renewalsAreAMinuteApart() {
  await timed([{ token: 90 }], async (check, clock, found) => {
    const told = [];
    check.onTokenChanged(token => told.push(token.token));
    await until(() => told.length === 1);
    for (let count = 0; count < 50; count++) await clock.pass(SECOND);
    await found.count(1);
    await clock.pass(15 * SECOND);
    await until(() => told.length === 2);
    await found.count(2);
  });
}

export async function whenNobodyListensNothingIsRenewed() {
  await timed([hour], async (check, clock, found) => {
    await check.getToken();
    await clock.pass(DAY);
    await found.count(1);
  });
}

export async function aListenerIsToldOfThePresentTokenOnce() {
  await client([hour], async check => {
    const { token } = await check.getToken();
    const told = [];
    check.onTokenChanged(each => told.push(each.token));
    await until(() => told.length > 0);
    equal((await check.getToken()).token, token);
    equal(told, [token]);
  });
}

export async function failedRenewalsAreRetriedAfterMoreAndMoreMinutes() {
  await timed([hour, { way: "cut" }], async (check, clock, found) => {
    const errors = [];
    let failedAt;
    check.onTokenChanged(() => {}, error => {
      errors.push(error.code);
      failedAt = clock.steady;
    });
    await until(async () => (await found.calls()).length === 1);
    await check.getToken();
    await clock.pass(35 * MINUTE + SECOND);
    await until(() => errors.length === 1);
    for (const [index, minutes] of [1, 2, 4, 8, 16, 16].entries()) {
      await clock.pass(failedAt + minutes * MINUTE - 5 * SECOND - clock.steady);
      equal(errors.length, index + 1);
      await clock.pass(10 * SECOND);
      await until(() => errors.length === index + 2);
    }
    equal([...new Set(errors)], ["unreachable"]);
  });
}

export async function whileItsRenewalFailsATokenIsStillGivenOut() {
  await timed([hour, { status: 403 }], async (check, clock) => {
    const { token } = await check.getToken();
    await failure("refused", check.getToken(true));
    equal((await check.getToken()).token, token);
    await clock.pass(54 * MINUTE);
    equal((await check.getToken()).token, token);
  });
}

export async function theShorterOfBothLifetimesCounts() {
  for (const [claims, ttl, seconds] of [[{ exp: 1600 }, "3600.5s", 600], [{}, "1500.25s", 1500], [{ iat: undefined }, "700s", 700]]) {
    await timed([reply(jwt(claims), ttl)], async (check, clock) => {
      within((await check.getToken()).expireTimeMillis - clock.day, (seconds - 2) * SECOND, seconds * SECOND + SECOND);
    });
  }
}

export async function aTokenThatIsShortIsGivenToThoseThatWaitedForIt() {
  await timed([{ token: 60 }], async (check, clock, found) => {
    const [one, other] = await Promise.all([check.getToken(), check.getToken()]);
    equal(one.token, other.token);
    await check.getToken();
    await found.count(2);
  });
}

export async function aLifetimeCountsFromBeforeTheRequest() {
  const clock = new Clock();
  try {
    const provider = async () => {
      clock.steady += 10 * MINUTE;
      clock.day += 10 * MINUTE;
      return { token: jwt({}), ttl: "3600s" };
    };
    await client([hour], async check => {
      within((await check.getToken()).expireTimeMillis - clock.day, 50 * MINUTE - SECOND, 50 * MINUTE);
    }, { provider, fetchLimitMillis: HOUR });
    await client([hour], async check => {
      await failure("expiredOnArrival", check.getToken());
    }, { provider: async () => ({ ...await provider(), ttl: "300s" }), fetchLimitMillis: HOUR });
  } finally {
    clock.putAway();
  }
}

/** The clock of the device, or of the server, is wrong by hours. */
export async function noTimeOfDayIsCompared() {
  for (const wrong of [-5 * HOUR, 5 * HOUR]) {
    const now = Math.floor((Date.now() + wrong) / SECOND);
    await timed([reply(jwt({ iat: now, exp: now + 3600 }))], async (check, clock, found) => {
      const first = await check.getToken();
      await clock.pass(50 * MINUTE);
      equal((await check.getToken()).token, first.token);
      await found.count(1);
    });
  }
}

export async function aTimeOfDayThatIsSetBackMakesNoTokenYounger() {
  await timed([hour], async (check, clock, found) => {
    await check.getToken();
    clock.day -= 5 * HOUR;
    await clock.pass(54 * MINUTE);
    await check.getToken();
    await found.count(1);
    await clock.pass(2 * MINUTE);
    await check.getToken();
    await found.count(2);
  });
}

export async function aTimeOfDayThatIsSetForwardCostsOneExchange() {
  await timed([hour], async (check, clock, found) => {
    await check.getToken();
    clock.day += 5 * HOUR;
    for (let count = 0; count < 50; count++) {
      await clock.pass(MINUTE);
      await check.getToken();
    }
    await found.count(2);
  });
}

export async function aDayOfSleepEndsAToken() {
  await timed([hour], async (check, clock, found) => {
    const { token } = await check.getToken();
    clock.sleep(DAY);
    that((await check.getToken()).token !== token);
    await found.count(2);
  });
}

export async function aClosedOneAnswersNobodyAndSendsNothing() {
  await timed([hour], async (check, clock, found) => {
    let signal;
    const hanging = new scene.module.AppCheck({ endpoint: found.address, app: APP, provider: request => new Promise(() => signal = request.signal) });
    const told = [];
    hanging.onTokenChanged(token => told.push(token), error => told.push(error));
    const waiting = [hanging.getToken(), hanging.getLimitedUseToken(), hanging.getLimitedUseToken()].map(each => failure("closed", each));
    await until(() => signal);
    hanging.close();
    await Promise.all(waiting);
    that(signal.aborted);
    await failure("closed", hanging.getToken());
    await failure("closed", async () => hanging.onTokenChanged(() => {}));
    await clock.pass(DAY);
    equal(told, []);
    await found.count(0);
  });
}

export async function aProviderThatDoesNotEndIsGivenUpAfterTwoMinutes() {
  await timed([hour], async (check, clock) => {
    let signal;
    const hanging = new scene.module.AppCheck({ endpoint: "https://assay.example.com", app: APP, provider: request => new Promise(() => signal = request.signal) });
    const waiting = failure("timedOut", hanging.getToken());
    await until(() => signal);
    await clock.pass(2 * MINUTE - SECOND);
    that(!signal.aborted);
    await clock.pass(2 * SECOND);
    equal((await waiting).retryAfterMillis, undefined);
    that(signal.aborted);
    hanging.close();
  });
}

export async function aProviderThatFailsIsNamedAsTheCause() {
  const cause = new RangeError("of the page");
  const providers = [async () => { throw cause; }, () => { throw cause; }];
  for (const provider of providers) {
    await client([hour], async check => equal((await failure("providerFailed", check.getToken())).cause === cause, true), { provider });
  }
  for (const nothing of [undefined, null, 7, "text", {}, []]) {
    await client([hour], check => failure("malformedReply", check.getToken()), { provider: async () => nothing });
  }
}

export async function aProviderMayAskForAPause() {
  let calls = 0;
  const provider = async () => {
    calls++;
    throw new scene.module.AppCheckError("throttled", "Later.", { retryAfterMillis: 20 * SECOND });
  };
  await timed([hour], async (check, clock) => {
    within((await failure("throttled", check.getToken())).retryAfterMillis, 20 * SECOND, 30 * SECOND);
    await failure("throttled", check.getToken());
    equal(calls, 1);
  }, { provider });
}

export async function aListenerThatFailsHarmsNothing() {
  const error = console.error;
  console.error = () => {};
  try {
    await client([hour], async check => {
      const told = [];
      check.onTokenChanged(() => { throw new Error("of a listener"); });
      check.onTokenChanged(token => told.push(token));
      await check.getToken();
      await until(() => told.length === 1);
    });
  } finally {
    console.error = error;
  }
}

/** Firebase's SDK keeps the token itself, and asks again when it wants another one. */
export async function theProviderForFirebaseGivesAnotherTokenWhenItIsAskedAgain() {
  await timed([hour], async (check, clock, found) => {
    const custom = check.assayProvider();
    const again = async () => {
      const asked = custom.getToken();
      await clock.pass(2 * SECOND);
      return asked;
    };
    const first = await custom.getToken();
    equal(Object.keys(first), ["token", "expireTimeMillis"]);
    // It asks without end while the device's clock is wrong.
    equal((await again()).token, first.token);
    await found.count(1);
    await clock.pass(5 * MINUTE);
    const second = await again();
    that(second.token !== first.token);
    // What this page has fetched otherwise is new to it.
    const third = await check.getToken(true);
    equal((await custom.getToken()).token, third.token);
    await found.count(3);
  });
}

export async function twoAppsOfAPageDoNotMixTheirTokens() {
  const found = await server(hour);
  const { AppCheck, debug } = scene.module;
  const one = new AppCheck({ endpoint: found.address, app: APP, provider: debug(SECRET) });
  const other = new AppCheck({ endpoint: found.address, app: "projects/example-project/apps/other", provider: debug(SECRET) });
  await one.getToken();
  // The server gives tokens of the first app only.
  await failure("foreignToken", other.getToken());
  equal((await found.calls()).length, 2);
  one.close();
  other.close();
}
