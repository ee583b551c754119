// What tests of pages and of Node have in common.
export const APP = "projects/example-project/apps/1:1234567890:web:321abc456def7890";
export const SECRET = "0B7C5A5E-3F0E-4C5D-9E0F-6A1B2C3D4E5F";
export const SECOND = 1000, MINUTE = 60_000, HOUR = 3_600_000, DAY = 24 * HOUR;
const real = {
  setTimeout: setTimeout.bind(globalThis), clearTimeout: clearTimeout.bind(globalThis), fetch: fetch.bind(globalThis), now: Date.now.bind(Date),
  steady: performance.now.bind(performance) };

/** Where the scripted server is, and the module under test. */
export const scene = { scripted: undefined, module: undefined };

// Checks

export function that(condition, words) {
  if (!condition) throw new Error(words ?? "it is not so");
}

export function equal(found, expected) {
  const [one, other] = [found, expected].map(value => JSON.stringify(value));
  that(one === other, `${one} is not ${other}`);
}

export const within = (value, least, most) => that(value >= least && value <= most, `${value} is not between ${least} and ${most}`);

/** The error of this code that a promise, or a function, ends with. */
export async function failure(code, work) {
  try {
    await (typeof work === "function" ? work() : work);
  } catch (error) {
    that(error instanceof scene.module.AppCheckError, `${error}`);
    that(error.code === code, `${error.code} is not ${code}: ${error.message}`);
    return error;
  }
  throw new Error(`it did not fail with ${code}`);
}

/** Waits for a state, in real time. */
export async function until(condition) {
  for (const end = real.steady() + 60_000; !await condition();) {
    that(real.steady() < end, `it did not happen: ${condition}`);
    await new Promise(resolve => real.setTimeout(resolve, 10));
  }
}

// Time

// In Node 18 it cannot be assigned.
const setSteady = value => Object.defineProperty(performance, "now", { value, configurable: true });

/** Sets both clocks and the timers of this realm until it is put away. */
export class Clock {
  day = real.now();
  steady = real.steady();
  #timers = new Set();

  constructor() {
    Date.now = () => this.day;
    setSteady(() => this.steady);
    globalThis.setTimeout = (work, wait = 0, ...values) => {
      // Node's own library goes on as it is.
      if (/^.*\n.*\n.*node:/.test(new Error().stack)) return real.setTimeout(work, wait, ...values);
      const timer = { work, at: this.steady + wait, unref: () => timer };
      this.#timers.add(timer);
      return timer;
    };
    globalThis.clearTimeout = timer => this.#timers.delete(timer) || real.clearTimeout(timer);
  }

  /** Lets time pass, with all timers that are due in their order. */
  async pass(millis) {
    for (const end = this.steady + millis; ;) {
      await new Promise(resolve => real.setTimeout(resolve, 0));
      const due = [...this.#timers].filter(timer => timer.at <= end).sort((one, other) => one.at - other.at)[0];
      const next = due ? Math.max(due.at, this.steady) : end;
      this.day += next - this.steady;
      this.steady = next;
      if (!due) return;
      this.#timers.delete(due);
      due.work();
    }
  }

  /** The device sleeps: timers and the monotonic clock stand still. */
  sleep(millis) {
    this.day += millis;
  }

  putAway() {
    Date.now = real.now;
    setSteady(real.steady);
    globalThis.setTimeout = real.setTimeout;
    globalThis.clearTimeout = real.clearTimeout;
    // The module is told that no day has passed.
    this.steady = real.steady();
  }
}

// The scripted server

const post = async (path, body) => (await real.fetch(scene.scripted + path, { method: "POST", body: JSON.stringify(body) })).json();

/** A server of its own for these replies; the last one stays. */
export async function server(...replies) {
  const number = await post("/scripts", replies);
  return {
    address: `${scene.scripted}/s/${number}`,
    calls: async () => (await real.fetch(`${scene.scripted}/scripts/${number}`)).json(),
    async count(expected) {
      equal((await this.calls()).length, expected);
    },
  };
}

/** Does work with a client of a server of these replies. */
export async function client(replies, work, options = {}) {
  const found = await server(...replies);
  const check = new scene.module.AppCheck({ endpoint: found.address, app: APP, provider: scene.module.debug(SECRET), ...options });
  try {
    await work(check, found);
  } finally {
    check.close();
  }
}

/** The same with a clock of the test. */
export async function timed(replies, work, options) {
  const clock = new Clock();
  try {
    await client(replies, (check, found) => work(check, clock, found), options);
  } finally {
    clock.putAway();
  }
}

export const encoded = value => btoa(JSON.stringify(value)).replace(/=/g, "").replace(/\+/g, "-").replace(/\//g, "_");
let issued = 0;
/** A token with other claims than those that the scripted server makes. */
export const jwt = claims => `${encoded({ alg: "RS256" })}.${encoded({
  sub: "1:1234567890:web:321abc456def7890", aud: ["projects/example-project"], iat: 1000, exp: 4600, jti: `t${++issued}`, ...claims })}.c2ln`;
export const reply = (token, ttl = "3600s") => ({ body: JSON.stringify({ token, ttl }) });

/** Runs tests of a module, and gives what became of each: `ok`, or why it failed. */
export async function run(file, tests, only, found = {}) {
  for (const [name, test] of Object.entries(tests)) {
    if (!only.includes(`${file}.${name}`)) continue;
    try {
      await test();
      found[`${file}.${name}`] = "ok";
    } catch (error) {
      found[`${file}.${name}`] = `${error?.stack ?? error}`.slice(0, 1500) || "failed";
    }
  }
  return found;
}
