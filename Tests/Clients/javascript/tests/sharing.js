// What tabs and later pages of one origin share, and what another script of that origin may put there. For pages alone.
import { APP, DAY, HOUR, MINUTE, SECOND, SECRET, Clock, equal, failure, jwt, scene, server, that, until, within } from "./scene.js";

const hour = { token: 3600 };

/** A server, several clients of it, and the record and the channel that they share. */
async function tabs(replies, work, options = {}) {
  const found = await server(...replies), clock = new Clock(), opened = [], key = `assay-app-check ${found.address} ${APP}`;
  const open = more => {
    const check = new scene.module.AppCheck({ endpoint: found.address, app: APP, provider: scene.module.debug(SECRET), ...options, ...more });
    opened.push(check);
    return check;
  };
  const channel = new BroadcastChannel(key);
  try {
    await work({ open, clock, found, key, channel });
  } finally {
    channel.close();
    opened.forEach(each => each.close());
    clock.putAway();
  }
}

const store = (mode, work) => new Promise((resolve, reject) => {
  const opening = indexedDB.open("assay-app-check", 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore("state");
  opening.onerror = () => reject(opening.error);
  opening.onsuccess = () => {
    const transaction = opening.result.transaction("state", mode), request = work(transaction.objectStore("state"));
    transaction.oncomplete = () => resolve(request.result);
    opening.result.close();
  };
});
const stored = key => store("readonly", found => found.get(key));
const put = (key, record) => store("readwrite", found => found.put(record, key));
const record = (clock, token, more) => ({ version: 1, savedAt: clock.day, token, ...more });

export async function twoTabsMakeOneExchange() {
  await tabs([hour], async ({ open, found }) => {
    const tokens = await Promise.all([open(), open(), open(), open()].flatMap(check => [check.getToken(), check.getToken()]));
    equal(new Set(tokens.map(each => each.token)).size, 1);
    await found.count(1);
  });
}

export async function aForcedRefreshOfOneTabIsTheNewTokenOfAll() {
  await tabs([hour], async ({ open, found }) => {
    const [one, other] = [open(), open()], told = [];
    other.onTokenChanged(token => told.push(token.token));
    await one.getToken();
    const { token } = await one.getToken(true);
    await until(() => told.at(-1) === token);
    equal((await other.getToken()).token, token);
    await found.count(2);
  });
}

export async function oneTabRenewsForAll() {
  await tabs([hour], async ({ open, clock, found }) => {
    const told = [[], [], []];
    told.forEach(list => open().onTokenChanged(token => list.push(token.token)));
    await until(() => told.every(list => list.length === 1));
    await clock.pass(35 * MINUTE + SECOND);
    await until(() => told.every(list => list.length === 2));
    equal(new Set(told.flat()).size, 2);
    await found.count(2);
  });
}

export async function oneTabRetriesForAll() {
  await tabs([hour, { way: "cut" }], async ({ open, clock, found }) => {
    const told = [[], [], []];
    told.forEach(list => open().onTokenChanged(token => list.push(token.token)));
    await until(() => told.every(list => list.length === 1));
    await clock.pass(35 * MINUTE + SECOND);
    await until(async () => (await found.calls()).length === 2);
    for (let count = 0; count < 50; count++) await clock.pass(100);
    await found.count(2);
    await clock.pass(50 * SECOND);
    await until(async () => {
      await clock.pass(SECOND);
      return (await found.calls()).length >= 3;
    });
    for (let count = 0; count < 50; count++) await clock.pass(100);
    await found.count(3);
  });
}

export async function aPauseIsForAllTabs() {
  await tabs([{ status: 429, headers: { "Retry-After": "40", "X-Assay-Decision": "d-1" } }, hour], async ({ open, clock, found }) => {
    const [one, other, later] = [open(), open()];
    const error = await failure("throttled", one.getToken());
    let shared;
    await until(async () => (shared = await other.getToken().catch(found => found)).code === "throttled");
    within(shared.retryAfterMillis, 1, error.retryAfterMillis);
    equal([shared.status, shared.decision, shared.message], [429, "d-1", error.message]);
    // A page that is opened meanwhile.
    equal((await failure("throttled", open().getToken())).decision, "d-1");
    await found.count(1);
    await clock.pass(error.retryAfterMillis + SECOND);
    await other.getToken();
    await one.getToken();
    await found.count(2);
  });
}

export async function aSuccessOfAnotherTabEndsThePause() {
  await tabs([hour], async ({ open, clock, channel }) => {
    const check = open(), say = failure => channel.postMessage({ version: 1, savedAt: clock.day, failure });
    await check.getToken();
    say({ code: "refused", message: "No.", count: 9, pause: HOUR, retry: MINUTE });
    await until(() => check.getToken(true).then(() => false, error => error.code === "refused"));
    say(undefined);
    await until(() => check.getToken(true).then(() => true, () => false));
    // What is counted begins again.
    say({ code: "refused", message: "No.", count: 1, pause: SECOND, retry: MINUTE });
    await until(() => check.getToken(true).then(() => false, error => error.retryAfterMillis <= SECOND));
  });
}

export async function aLaterPageFindsTheToken() {
  await tabs([hour], async ({ open, clock, found }) => {
    const first = open(), { token } = await first.getToken();
    first.close();
    await clock.pass(30 * MINUTE);
    const second = open();
    const { token: again, expireTimeMillis } = await second.getToken();
    equal(again, token);
    within(expireTimeMillis - clock.day, 30 * MINUTE - SECOND, 30 * MINUTE);
    second.close();
    await clock.pass(26 * MINUTE);
    that((await open().getToken()).token !== token);
    await found.count(2);
  });
}

export async function aListenerOfALaterPageIsToldOnce() {
  await tabs([hour], async ({ open, found }) => {
    const first = open(), { token } = await first.getToken(), told = [];
    first.close();
    const second = open();
    second.onTokenChanged(each => told.push(each.token));
    await until(() => told.length > 0);
    await second.getToken();
    equal(told, [token]);
    await found.count(1);
  });
}

export async function aTokenFromBeforeTheTimeOfDayWasSetBackIsNotUsed() {
  await tabs([hour], async ({ open, clock, found }) => {
    const first = open();
    await first.getToken();
    first.close();
    clock.day -= 5 * HOUR;
    await open().getToken();
    await found.count(2);
  });
}

export async function storageIsNotUsedWhereItIsNotWanted() {
  await tabs([hour], async ({ open, key }) => {
    await open({ storage: "memory" }).getToken();
    equal(await stored(key), undefined);
  });
}

export async function nothingForOneUseIsStoredOrSaid() {
  await tabs([hour], async ({ open, key, channel }) => {
    const said = [];
    channel.onmessage = event => said.push(JSON.stringify(event.data));
    const { token } = await open().getLimitedUseToken();
    equal(await stored(key), undefined);
    await open().getToken();
    await until(() => said.length > 0);
    that(!said.join().includes(token));
  });
}

/** A tab that holds the lock and does not end, such as one that is frozen. */
export async function aHolderThatDoesNotEndIsNotWaitedForForEver() {
  await tabs([hour], async ({ open, clock, key }) => {
    let release;
    const held = new Promise(resolve => navigator.locks.request(key, () => {
      resolve();
      return new Promise(end => release = end);
    }));
    await held;
    const waiting = open().getToken();
    let isDone = false;
    waiting.then(() => isDone = true);
    await until(async () => (await navigator.locks.query()).pending.some(lock => lock.name === key));
    await clock.pass(MINUTE);
    that(!isDone);
    await clock.pass(MINUTE + SECOND);
    await waiting;
    release();
  });
}

/** Another tab has fetched one while this one waited for its turn, and its message is still on its way. */
export async function whatAnotherTabStoredMeanwhileIsFound() {
  await tabs([hour], async ({ open, clock, key, found }) => {
    let release;
    await new Promise(resolve => navigator.locks.request(key, () => {
      resolve();
      return new Promise(end => release = end);
    }));
    const waiting = open().getToken(), text = jwt({});
    await until(async () => (await navigator.locks.query()).pending.some(lock => lock.name === key));
    await put(key, record(clock, { text, age: 0, life: HOUR }));
    release();
    equal((await waiting).token, text);
    await found.count(0);
  });
}

export async function aClosedTabWaitsForNoLock() {
  await tabs([hour], async ({ open, key, found }) => {
    let release;
    await new Promise(resolve => navigator.locks.request(key, () => {
      resolve();
      return new Promise(end => release = end);
    }));
    const check = open(), waiting = failure("closed", check.getToken());
    await until(async () => (await navigator.locks.query()).pending.some(lock => lock.name === key));
    check.close();
    await waiting;
    release();
    await found.count(0);
  });
}

// What another script of the same origin may say

const LIES = clock => {
  const token = { text: jwt({}), age: 0, life: HOUR };
  const lies = [
    undefined, null, 7, "text", [], {}, { version: 1 }, { version: 2, savedAt: clock.day, token }, { version: "1", savedAt: clock.day, token }, record(clock, null),
    { version: 1, savedAt: "now", token }, { version: 1, savedAt: NaN, token }, { version: 1, savedAt: -1, token }, JSON.parse(`{"__proto__":${JSON.stringify(record(clock, token))}}`),
    // Other apps and projects, and what is no token.
    record(clock, { ...token, text: jwt({ sub: "1:1234567890:web:other" }) }), record(clock, { ...token, text: jwt({ aud: ["projects/other"] }) }),
    record(clock, { ...token, text: "no token" }), record(clock, { ...token, text: jwt({ x: "y".repeat(20_000) }) }), record(clock, { ...token, text: 7 }),
    // Lifetimes that no token has.
    record(clock, { ...token, life: 8 * DAY }), record(clock, { ...token, life: HOUR + 1 }), record(clock, { ...token, life: Infinity }), record(clock, { ...token, life: "3600000" }),
    record(clock, { ...token, age: -HOUR }), record(clock, { ...token, age: NaN }), record(clock, { ...token, age: HOUR }), record(clock, { ...token, age: undefined }),
    { ...record(clock, token), savedAt: clock.day - 2 * HOUR },
  ];
  return lies;
};

export async function whatIsNotTrueOnTheChannelIsNotTaken() {
  await tabs([hour], async ({ open, clock, found, channel }) => {
    const check = open(), told = [];
    const { token } = await check.getToken();
    check.onTokenChanged(each => told.push(each.token));
    await until(() => told.length === 1);
    LIES(clock).forEach(lie => channel.postMessage(lie));
    // Messages come in their order.
    const last = jwt({});
    await clock.pass(SECOND);
    channel.postMessage(record(clock, { text: last, age: 0, life: HOUR }));
    await until(() => told.length > 1);
    equal(told, [token, last]);
    await found.count(1);
  });
}

export async function whatIsNotTrueInStorageIsNotTaken() {
  await tabs([hour], async ({ open, clock, found, key }) => {
    let count = 0;
    const lies = [...LIES(clock), { ...record(clock, { text: jwt({}), age: 0, life: HOUR }), savedAt: clock.day + HOUR }];
    for (const lie of lies) {
      await put(key, lie);
      const check = open();
      const { token } = await check.getToken();
      that(token.length < 1000 && token !== lie?.token?.text);
      await found.count(++count);
      check.close();
    }
  });
}

export async function anOlderTokenReplacesNoNewerOne() {
  await tabs([hour], async ({ open, clock, channel }) => {
    const check = open(), { token } = await check.getToken(), told = [];
    check.onTokenChanged(each => told.push(each.token));
    await until(() => told.length === 1);
    channel.postMessage(record(clock, { text: jwt({}), age: 10 * MINUTE, life: HOUR }));
    const last = jwt({});
    await clock.pass(SECOND);
    channel.postMessage(record(clock, { text: last, age: 0, life: HOUR }));
    await until(() => told.length > 1);
    equal(told, [token, last]);
  });
}

/** A message waits while the page is frozen. */
export async function aMessageThatWaitedADayMakesNoTokenYounger() {
  await tabs([hour], async ({ open, clock, found, channel }) => {
    const check = open();
    await check.getToken();
    await clock.pass(DAY);
    channel.postMessage({ ...record(clock, { text: jwt({}), age: 0, life: HOUR }), savedAt: clock.day - DAY + HOUR });
    await check.getToken();
    await found.count(2);
  });
}

export async function aPauseThatAnotherScriptWantsEnds() {
  await tabs([hour], async ({ open, clock, found, channel }) => {
    const check = open(), failed = { code: "refused", message: "\u001b[2J".repeat(1000), count: 64, pause: 2 * HOUR, retry: 16 * MINUTE };
    for (const lie of [{ pause: Infinity }, { pause: 3 * HOUR }, { pause: -1 }, { count: 1e9 }, { count: -1 }, { retry: DAY }, { code: 7 }, { message: {} }]) {
      channel.postMessage({ version: 1, savedAt: clock.day, failure: { ...failed, ...lie } });
    }
    await check.getToken();
    channel.postMessage({ version: 1, savedAt: clock.day, failure: { ...failed, status: "a".repeat(1000), decision: {} } });
    let error;
    await until(async () => error = await check.getToken(true).then(() => undefined, found => found));
    within(error.retryAfterMillis, HOUR - SECOND, HOUR + MINUTE / 2);
    equal([error.code, error.status, error.decision], ["refused", undefined, undefined]);
    that(error.message.length <= 300 && /^[ -~]+$/.test(error.message));
    await clock.pass(HOUR + MINUTE);
    await check.getToken(true);
    that((await found.calls()).length >= 2);
  });
}

export async function aDatabaseOfAnotherFormIsNotUsed() {
  const name = "assay-app-check", request = work => new Promise((resolve, reject) => {
    const opening = work();
    opening.onsuccess = () => resolve(opening.result);
    opening.onerror = opening.onblocked = reject;
  });
  const deleted = () => request(() => indexedDB.deleteDatabase(name));
  await deleted();
  const other = await new Promise(resolve => {
    const opening = indexedDB.open(name, 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore("other");
    opening.onsuccess = () => resolve(opening.result);
  });
  other.close();
  try {
    await tabs([hour], async ({ open, found }) => {
      const check = open();
      equal((await check.getToken()).token, (await check.getToken()).token);
      await found.count(1);
    });
    await deleted();
    (await request(() => indexedDB.open(name, 7))).close();
    await tabs([hour], async ({ open, found }) => {
      await open().getToken();
      await found.count(1);
    });
  } finally {
    await deleted();
  }
}

/** `<base>` decides where a relative address leads. */
export async function theAddressOfARequestIsWhatIsSent() {
  const elsewhere = await server({});
  await tabs([hour], async ({ open }) => {
    const check = open();
    await check.getToken();
    const base = document.createElement("base");
    base.href = `${elsewhere.address}/`;
    document.head.append(base);
    try {
      await (await check.fetch("orders")).text();
    } finally {
      base.remove();
    }
    const [call] = await elsewhere.calls();
    equal([call.target, call.headers["x-firebase-appcheck"]], ["/orders", undefined]);
  }, { origins: [location.origin] });
}
