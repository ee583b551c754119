/**
 * App Check tokens from an Assay server, in pages, workers, extensions and Node. README.md beside this file says how to use it, and
 * app-check.d.ts what each call takes and returns. It depends on nothing, loads nothing, and evaluates no text.
 */

/** The request header that carries a token. */
export const HEADER = "X-Firebase-AppCheck";

// All times are milliseconds.
const SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE, NEVER = -Infinity;
/** A token with no more left than this is not given out again; half of a lifetime is extended by it before a renewal. */
const MARGIN = 5 * MINUTE;
/** The least time from the start of one exchange to the start of an automatic one, and the longest sleep of a timer. */
const DISTANCE = MINUTE;
const LONGEST_RETRY = 16 * MINUTE, LONGEST_PAUSE = HOUR, LONGEST_LIFE = 7 * 24 * HOUR;
const REQUEST_LIMIT = 30 * SECOND, FETCH_LIMIT = 2 * MINUTE, STORAGE_LIMIT = 2 * SECOND;
/** How far the two clocks of a device may move apart before it slept, or its time of day was set. */
const TOLERANCE = 5 * SECOND;
/** Bytes of a reply, characters of a token, and callers that wait for one of their own. */
const REPLY_LIMIT = 65_536, TOKEN_LIMIT = 16_384, CALLER_LIMIT = 1000;
const ACTION = "fire_app_check", NAME = "assay-app-check";
/** Codes after which something else was wrong than a server's answer: the next call may try at once. */
const UNANSWERED = ["unreachable", "timedOut", "expiredOnArrival", "providerFailed"];

const ignore = () => {};
const settled = promise => Promise.resolve(promise).then(ignore, ignore);
const { min, max } = Math;

/** The members of a value's own: none of a prototype that JSON of somebody extended. */
const bare = value => ({ __proto__: null, ...value });

/** An error of this module. Compare `code`; README.md lists them. */
export class AppCheckError extends Error {
  constructor(code, message, details) {
    const { status, decision, retryAfterMillis, ...cause } = bare(details);
    super(message, cause);
    Object.assign(this, { name: "AppCheckError", code, status, decision, retryAfterMillis });
  }
}

const fail = (code, message, details) => {
  throw new AppCheckError(code, message, details);
};

// Time

let skipped = 0, apart = Date.now() - performance.now();

/**
 * Milliseconds that nobody sets back. Where the monotonic clock stands still during sleep, the time of day tells how long that was;
 * only its differences count, so that a wrong one makes no difference.
 */
function now() {
  const steady = performance.now(), change = Date.now() - steady - apart;
  if (Math.abs(change) > TOLERANCE) {
    apart += change;
    skipped += max(change, 0);
  }
  return steady + skipped;
}

/** Ends work after a limit, or when the outer signal is aborted: also work that does not listen to its own signal. */
async function within(limit, outer, late, work) {
  const controller = new AbortController();
  let timer, cancel;
  try {
    return await Promise.race([
      new Promise((_, reject) => {
        cancel = () => {
          reject(outer.aborted ? outer.reason : late());
          controller.abort();
        };
        timer = setTimeout(cancel, limit);
        outer.addEventListener("abort", cancel);
        if (outer.aborted) cancel();
      }),
      work(controller.signal)]);
  } finally {
    clearTimeout(timer);
    outer.removeEventListener("abort", cancel);
  }
}

// What others say

/** A member of the value's own: a name such as `__proto__`, or a prototype that somebody extended, gives nothing. */
const own = (value, name) => isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
const isObject = value => value !== null && typeof value === "object";
const isAmount = (value, most) => typeof value === "number" && value >= 0 && value <= most;
const isText = value => typeof value === "string" && value !== "";

/** Words of a stranger, fit for a log. */
const shown = text => String(text).slice(0, 300).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "?");

/** What work gives; nothing when it fails, as for text of another form. */
const attempt = work => {
  try {
    return work();
  } catch {
    // The caller knows what nothing means.
  }
};

/** JSON in UTF-8; nothing for other bytes. */
const read = bytes => attempt(() => JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)));

/** What a token says of itself; its signature is for those who receive it. Nothing for what is no JWT of a bounded length. */
const claimsOf = token => isText(token) && token.length <= TOKEN_LIMIT && /^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)
  ? attempt(() => read(Uint8Array.from(
    atob(token.split(".")[1].replace(/-/g, "+").replace(/_/g, "/")), character => character.charCodeAt(0)))) : undefined;

/** `exp` less `iat`; infinite where a token does not say so. */
function claimedLife(claims) {
  const issued = own(claims, "iat"), end = own(claims, "exp");
  return [issued, end].every(time => Number.isInteger(time) && isAmount(time, 2 ** 40)) ? (end - issued) * SECOND : Infinity;
}

function appOf(name) {
  const part = "(?!\\.{1,2}(?:/|$))([A-Za-z0-9:._-]{1,256})";
  const [, project, id, client] = new RegExp(`^(?:projects/${part}/apps/${part}|oauthClients/${part})$`).exec(name)
    ?? fail("invalidConfiguration", "`app` is not projects/PROJECT/apps/APP_ID.");
  return { name, audience: project && `projects/${project}`, id: id ?? client };
}

function isOf(app, claims) {
  const audience = own(claims, "aud");
  return own(claims, "sub") === app.id && (!app.audience || [audience].flat().includes(app.audience));
}

/** A URL to which evidence or tokens may be sent: by TLS, or without a network. */
function protectedURL(text) {
  const url = attempt(() => new URL(text));
  return url && /^(https:|http:\/\/(localhost|127\.0\.0\.1|\[::1\])[:/])/.test(url.href) && !url.username && !url.password && !/[?#]/.test(url.href)
    ? url : fail("insecure", `${shown(text)} is no https URL without user, query and fragment; http is for this machine.`);
}

// Calls of the server

async function bytesOf(response, method) {
  const parts = [], reader = response.body?.getReader();
  for (let size = 0; reader;) {
    const { done, value } = await reader.read();
    if (done) break;
    parts.push(value);
    size += value.length;
    if (size > REPLY_LIMIT) {
      settled(reader.cancel());
      fail("malformedReply", `The reply of ${method} is too long.`);
    }
  }
  return new Blob(parts).arrayBuffer();
}

/** How long the server wants to be left alone (RFC 9110, section 10.2.3), where its status says so. */
function retryAfter({ status, headers }) {
  const text = headers.get("retry-after") ?? "";
  if (status !== 429 && status !== 503) return undefined;
  if (/^\d{1,9}$/.test(text)) return text * SECOND;
  // A date is compared with the server's own: the clock of the device may be wrong.
  const [then, present] = [text, headers.get("date")].map(date => / GMT$/.test(date) ? Date.parse(date) : NaN);
  return max(then - present, SECOND) || undefined;
}

const KINDS = { 3: "redirected", 4: "rejected", 5: "unavailable" };
const CODES = { 403: "refused", 404: "notConfigured", 408: KINDS[5], 425: KINDS[5], 429: "throttled" };
const WORDS = {
  refused: "is refused. The operator finds the reason by `decision`.",
  notConfigured: "is not set up for this app.",
  rejected: "is rejected as such. Check the versions.",
  throttled: "is asked for too often.",
  unavailable: "cannot be decided now.",
  redirected: "is redirected, which is not followed.",
  malformedReply: "has a status that is no answer.",
};

function failureOf(response, reply, method) {
  const { status, headers, type } = response, said = own(reply, "error"), message = own(said, "message");
  const code = type === "opaqueredirect" ? KINDS[3] : status === 400 && own(said, "status") === "FAILED_PRECONDITION" ? CODES[404]
    : CODES[status] ?? KINDS[Math.floor(status / 100)] ?? "malformedReply";
  const decision = headers.get("x-assay-decision");
  return new AppCheckError(code, `${method} ${WORDS[code]}${isText(message) ? ` The server says: ${shown(message)}` : ""}`, {
    status: status || undefined, decision: /^[!-~]{1,128}$/.test(decision) ? decision : undefined, retryAfterMillis: retryAfter(response) });
}

/** Makes the function that calls a method for an app with the evidence of a provider. */
const serviceOf = (send, endpoint, app, limit) => async (method, fields, outer) => {
  const requested = now();
  const unreachable = cause => new AppCheckError(
    "unreachable", `${method} has no whole reply. Check the connection, and which origins the server allows.`, { cause });
  return within(limit, outer, unreachable, async signal => {
    let response, content;
    try {
      response = await send(`${endpoint}/v1/${app.name}:${method}`, {
        method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(fields), credentials: "omit",
        cache: "no-store", redirect: "manual", referrerPolicy: "no-referrer", signal });
      content = await bytesOf(response, method);
    } catch (cause) {
      throw cause instanceof AppCheckError ? cause : unreachable(cause);
    }
    const reply = read(content);
    if (!response.ok) throw failureOf(response, reply, method);
    return { token: own(reply, "token"), ttl: own(reply, "ttl"), requested };
  });
};

/** The token that a provider returned, when it is one of the app. */
function checked(app, issued, start) {
  const text = own(issued, "token"), claims = claimsOf(text), said = own(issued, "ttl");
  const ttl = isText(said) && /^(\d{1,9}(?:\.\d{1,9})?)s$/.exec(said)?.[1] * SECOND;
  // Both lifetimes are the server's. The shorter one is safe.
  const life = min(ttl, claimedLife(claims));
  if (!isObject(claims) || !(life > 0 && ttl <= LONGEST_LIFE)) {
    fail("malformedReply", "The reply has no JWT in `token` of at most 16 KB, or no `ttl` of at most 7 days.");
  }
  if (!isOf(app, claims)) fail("foreignToken", "The token is of another app, and not used.");
  // Never after the present: a provider cannot make a token last longer.
  const requested = min(own(issued, "requested") ?? start, now()), expires = requested + life;
  if (!(now() < expires)) fail("expiredOnArrival", "The token had ended when it arrived.");
  return { text, requested, expires };
}

// What tabs and later pages share

/** One request to the store of this origin; it fails where storage is denied. */
const stored = (mode, work) => new Promise((resolve, reject) => {
  const opening = indexedDB.open(NAME, 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore("state");
  opening.onerror = opening.onblocked = reject;
  opening.onsuccess = () => {
    const database = opening.result;
    try {
      const transaction = database.transaction("state", mode), request = work(transaction.objectStore("state"));
      transaction.oncomplete = () => resolve(request.result);
      transaction.onabort = reject;
    } catch (error) {
      reject(error);
    }
    // It ends with the transaction.
    database.close();
  };
});

function tabsOf(key, isStored, closing, receive) {
  // Each page is on its own where there is none, as in an opaque origin.
  const channel = attempt(() => new BroadcastChannel(key));
  if (channel) channel.onmessage = event => receive(event.data);
  // Node would wait for it.
  channel?.unref?.();
  closing.addEventListener("abort", () => channel?.close());
  // Where storage is denied or full, the token is in memory.
  const access = async (mode, work) => isStored
    ? within(STORAGE_LIMIT, closing, ignore, async () => stored(mode, work)).catch(ignore) : undefined;
  return {
    load: () => access("readonly", store => store.get(key)),
    share: record => {
      attempt(() => channel.postMessage(record));
      return access("readwrite", store => store.put(record, key));
    },
    /** Does work in one tab after the other. */
    inTurn: async work => {
      let release;
      const held = new Promise(resolve => release = resolve);
      // Without locks, or with a holder that does not end, such as a page that is frozen, this tab is on its own.
      await within(FETCH_LIMIT, closing, ignore, signal => new Promise((resolve, reject) => {
        navigator.locks.request(key, { signal }, () => {
          resolve();
          return held;
        }).catch(reject);
      })).catch(ignore);
      try {
        return await work();
      } finally {
        release();
      }
    },
  };
}

// Tokens

/** Makes what an `AppCheck` consists of. Tokens in here are `{ text, requested, expires }` by `now()`. */
function open(options) {
  const { endpoint, provider, origins = [], storage, requestLimitMillis = REQUEST_LIMIT, fetchLimitMillis = FETCH_LIMIT, app: name } = bare(options);
  const app = appOf(name), url = protectedURL(endpoint), listed = new Set(origins.map(origin => protectedURL(origin).origin));
  const base = url.origin + url.pathname.replace(/\/+$/, "").replace(/\/v1(beta)?$/, "");
  if (typeof provider !== "function") fail("invalidConfiguration", "`provider` is no function.");
  // A page may put `fetch` of this object in the place of its own.
  const { fetch: sent } = globalThis, send = (...values) => sent(...values);
  const call = serviceOf(send, base, app, requestLimitMillis);
  const closer = new AbortController(), closing = closer.signal, listeners = new Set(), queue = [];
  const tabs = tabsOf(`${NAME} ${base} ${app.name}`, storage !== "memory", closing, record => adopt(record, true));

  let token, restoring, timer;
  let failures = 0, pausedUntil = NEVER, retryAt = NEVER, lastStart = NEVER, lastError;
  /** The renewal that runs, with what its callers want, and the exchange for one use that runs. */
  let renewing, single;

  const demandOpen = () => closing.throwIfAborted();
  const demandNoPause = () => {
    demandOpen();
    const left = pausedUntil - now();
    if (left > 0) fail(lastError.code, lastError.message, { ...lastError, retryAfterMillis: Math.ceil(left) });
  };
  const usable = () => token && now() < token.expires - MARGIN ? token : undefined;
  const given = ({ text, expires }) => ({ token: text, expireTimeMillis: Math.floor(Date.now() + expires - now()) });
  const restored = () => restoring ??= tabs.load().then(record => adopt(record));

  async function session(force) {
    demandOpen();
    if (usable() && !force) return token;
    await restored();
    if (usable() && !force) return token;
    if (!renewing) demandNoPause();
    return renew(true, force);
  }

  function renew(isWanted, isForced) {
    const before = token?.text;
    // A caller that comes after it has decided to fetch nothing starts another one.
    if (!renewing || renewing.isDecided) {
      const run = renewing = {};
      run.result = settled(single).then(() => tabs.inTurn(async () => {
        adopt(await tabs.load());
        // Another tab has a newer one, or has just tried.
        run.isDecided = usable() && (run.isWanted && !run.isForced || token.text !== before) || !run.isWanted && now() < refreshTime();
        if (run.isDecided) return token;
        demandNoPause();
        lastStart = now();
        return exchange(false);
      })).finally(() => {
        if (renewing === run) renewing = undefined;
        schedule();
      });
    }
    renewing.isWanted ||= isWanted;
    renewing.isForced ||= isForced;
    return renewing.result;
  }

  async function limitedUse() {
    await restored();
    if (queue.length >= CALLER_LIMIT) fail("tooManyCallers", "Too many callers wait.");
    return new Promise((resolve, reject) => {
      if (queue.push({ resolve, reject }) === 1) drain();
    });
  }

  /** One exchange after the other, and a renewal, for which many may wait, before all of these. */
  async function drain() {
    for (; queue.length > 0; queue.shift()) {
      while (renewing) await settled(renewing.result);
      single = exchange(true);
      await single.then(queue[0].resolve, queue[0].reject);
      single = undefined;
    }
  }

  async function exchange(isLimitedUse) {
    const start = now();
    let fetched;
    demandNoPause();
    try {
      fetched = checked(app, await within(
        fetchLimitMillis, closing, () => new AppCheckError("timedOut", "The provider did not finish in time."), async signal => provider({
          app: app.name, limitedUse: isLimitedUse, signal,
          exchange: (method, fields) => call(method, { ...fields, limitedUse: isLimitedUse }, signal) })), start);
    } catch (cause) {
      const error = cause instanceof AppCheckError ? cause : new AppCheckError("providerFailed", "The provider failed: see `cause`.", { cause });
      demandOpen();
      await failed(error);
      if (!isLimitedUse) listeners.forEach(listener => run(listener.onError, error));
      throw error;
    }
    const isNews = failures > 0;
    succeeded();
    if (isLimitedUse) {
      if (isNews) await share();
    } else {
      token = fetched;
      await share();
      listeners.forEach(tell);
    }
    return fetched;
  }

  const succeeded = () => {
    failures = 0;
    pausedUntil = retryAt = NEVER;
  };

  function failed(error) {
    const asked = error.retryAfterMillis;
    failures = min(failures + 1, 64);
    retryAt = now() + min(DISTANCE * 2 ** (failures - 1), LONGEST_RETRY);
    let pause = UNANSWERED.includes(error.code) ? 0 : min(SECOND * 2 ** failures * (1 + Math.random() / 2), LONGEST_PAUSE);
    if (typeof asked === "number") {
      pause = min(max(asked, SECOND), LONGEST_PAUSE);
      pause += min(pause, MINUTE) * Math.random() / 2;
    }
    pausedUntil = now() + pause;
    lastError = error;
    error.retryAfterMillis = pause > 0 ? Math.ceil(pause) : undefined;
    return share();
  }

  // Renewal in the background, while somebody listens

  const renewal = ({ requested, expires }) => min((requested + expires) / 2 + MARGIN, expires - MARGIN);
  const refreshTime = () => max(lastStart + DISTANCE, retryAt, pausedUntil, token ? renewal(token) : NEVER);

  function schedule() {
    clearTimeout(timer);
    if (listeners.size === 0 || renewing) return;
    const left = refreshTime() - now();
    if (left <= 0) {
      settled(renew(false, false));
      return;
    }
    // A timer may stand still while the page is frozen or the device sleeps.
    timer = setTimeout(schedule, min(left, DISTANCE));
    timer.unref?.();
  }

  function tell(listener) {
    if (!token || now() >= token.expires || listener.last === token.text || !listeners.has(listener)) return;
    listener.last = token.text;
    run(listener.onToken, given(token));
  }

  function run(callback, value) {
    try {
      callback?.(value);
    } catch (error) {
      console.error(error);
    }
  }

  // What other tabs say, and an earlier page left

  function share() {
    const moment = now(), record = { version: 1, savedAt: Date.now() };
    if (token) record.token = { text: token.text, age: moment - token.requested, life: token.expires - token.requested };
    if (failures > 0) {
      record.failure = {
        ...lastError, message: lastError.message, count: failures, pause: max(pausedUntil - moment, 0), retry: max(retryAt - moment, 0) };
    }
    return tabs.share(record);
  }

  /** Takes a record as far as it can be true. */
  function adopt(record, isMessage) {
    const savedAt = own(record, "savedAt"), passed = Date.now() - savedAt, failure = own(record, "failure");
    // Pages have only the time of day in common. If it was set back since then, nobody knows how old the token is.
    if (own(record, "version") !== 1 || !isAmount(savedAt, Infinity) || closing.aborted || !isMessage && passed < -TOLERANCE) return;
    // A message may have waited while this page was frozen.
    const isNewer = adoptToken(own(record, "token"), now() - max(passed, 0));
    if (isNewer || isMessage && !failure) succeeded();
    adoptFailure(failure, now() - max(passed, 0));
    if (isNewer) listeners.forEach(tell);
    schedule();
  }

  function adoptToken(found, saved) {
    const { text, age, life } = bare(found), claims = claimsOf(text);
    const requested = saved - age, expires = requested + life;
    const isNewer = isOf(app, claims) && isAmount(age, LONGEST_LIFE) && isAmount(life, min(claimedLife(claims), LONGEST_LIFE))
      && now() < expires && text !== token?.text && !(requested < token?.requested);
    if (isNewer) {
      token = { text, requested, expires };
      lastStart = max(lastStart, requested);
    }
    return isNewer;
  }

  function adoptFailure(found, saved) {
    const { code, message, status, decision, count, pause, retry } = bare(found);
    if (!isText(code) || !isText(message) || !isAmount(count, 64) || !isAmount(pause, 2 * HOUR) || !isAmount(retry, LONGEST_RETRY)) return;
    failures = max(failures, Math.floor(count));
    retryAt = max(retryAt, saved + retry);
    const until = saved + min(pause, LONGEST_PAUSE + MINUTE / 2);
    if (until <= pausedUntil && lastError) return;
    pausedUntil = until;
    lastError = new AppCheckError(shown(code), shown(message), {
      status: isAmount(status, 999) ? status : undefined, decision: isText(decision) ? shown(decision) : undefined });
  }

  // Requests of backends

  async function protectedFetch(input, init, kind) {
    const isListed = request => listed.has(new URL(request.url).origin);
    const take = isFirst => kind?.limitedUse === true ? limitedUse() : isFirst ? session() : after();
    const asked = new Request(input, init);
    if (!isListed(asked)) {
      asked.headers.delete(HEADER);
      return send(asked);
    }
    const used = await take(true);
    // One that is younger than a minute is not replaced.
    const after = async () => {
      const present = await session();
      return present.text !== used.text ? present : now() - used.requested < DISTANCE ? undefined : session(true);
    };
    const response = await sendWith(used, asked);
    if (response.status !== 401 || !isRepeatable(input, init) || !isTokenRefused(response)) return response;
    const fresh = await take(), again = fresh && new Request(input, init);
    if (!again || !isListed(again)) return response;
    settled(response.body?.cancel());
    return sendWith(fresh, again);
  }

  async function sendWith({ text }, asked) {
    if (asked.url.includes(text)) fail("insecure", "The URL has the token in it, where logs and proxies see it.");
    // A browser would send the header to wherever a redirect leads.
    const request = new Request(asked, { redirect: "manual" });
    request.headers.set(HEADER, text);
    const response = await send(request);
    if (response.type !== "opaqueredirect" && !/^30[12378]$/.test(response.status) || asked.redirect === "manual") return response;
    settled(response.body?.cancel());
    return fail(KINDS[3], `The request with a token ${WORDS.redirected}`);
  }

  return {
    getToken: async forceRefresh => given(await session(forceRefresh === true)),
    getLimitedUseToken: async () => given(await limitedUse()),
    fetch: protectedFetch,
    onTokenChanged: (onToken, onError) => {
      demandOpen();
      const listener = { onToken, onError };
      listeners.add(listener);
      restored().then(() => {
        tell(listener);
        schedule();
      });
      return () => {
        listeners.delete(listener);
        schedule();
      };
    },
    /** Firebase's SDK keeps tokens itself: when it asks again, it wants another one. With a clock that is wrong by hours it asks without end. */
    assayProvider: () => {
      let last;
      return {
        getToken: async () => {
          let present = await session();
          if (present.text === last) {
            await new Promise(resolve => setTimeout(resolve, SECOND));
            present = await session(now() >= min(renewal(present), present.requested + MARGIN));
          }
          last = present.text;
          return given(present);
        },
      };
    },
    close: () => {
      closer.abort(new AppCheckError("closed", "It is closed."));
      listeners.clear();
      clearTimeout(timer);
    },
  };
}

/** The tokens of one app. Make one for each app, and keep it. */
export class AppCheck {
  constructor(options) {
    Object.assign(this, open(options));
  }
}

/** Whether a request can be made a second time: what was read from a stream is gone. */
function isRepeatable(input, init) {
  const body = init?.body ?? undefined;
  return body === undefined ? !input.bodyUsed : typeof body === "string" || ArrayBuffer.isView(body)
    || [ArrayBuffer, Blob, FormData, URLSearchParams].some(type => body instanceof type);
}

/** Whether a 401 is, or may be, about the token: scripts of another origin see the header only where the backend exposes it. */
function isTokenRefused(response) {
  const challenge = response.headers.get("www-authenticate");
  return challenge === null || /(^|, *)appcheck .*error="invalid_token"/i.test(challenge);
}

// Providers

/** A debug token that the operator registers. */
export const debug = token => ({ exchange }) => exchange("exchangeDebugToken", { debugToken: token });

/** A JWT that a backend of the app signs. */
export const custom = source => async request => request.exchange("exchangeCustomToken", { customToken: await source(request) });

/** A provider around a web challenge: a function of the page, or the service's script that the page has loaded. */
const challenge = (name, solve) => source => async request => {
  const { [name]: api = globalThis[name], container, ...others } = bare(source), parameters = bare(others), isFunction = typeof source === "function";
  if (!isFunction && !api) fail("providerFailed", `There is no \`${name}\`: load its script in the page first.`);
  const answer = isFunction ? await source(request) : await solve(api, parameters, container, request.signal);
  if (!isText(answer) || answer.length > TOKEN_LIMIT) fail("providerFailed", `\`${name}\` gave no token.`);
  const kind = name !== "grecaptcha" ? name : parameters.enterprise ? "recaptchaEnterprise" : "recaptchaV3";
  return request.exchange(`exchange${kind[0].toUpperCase()}${kind.slice(1)}Token`, { [`${kind}Token`]: answer });
};

/** Solves a challenge of a widget, which is there only meanwhile. */
async function solved(api, widget, signal, answer) {
  try {
    return await Promise.race([answer, new Promise((_, reject) => signal.addEventListener("abort", reject))]);
  } finally {
    api.remove(widget);
  }
}

/** Cloudflare Turnstile. */
export const turnstile = challenge("turnstile", (api, parameters, container, signal) => {
  let widget;
  const answer = new Promise((resolve, reject) => {
    const failed = code => reject(new AppCheckError("providerFailed", `Turnstile failed: ${shown(code)}.`));
    widget = api.render(container, {
      action: ACTION, retry: "never", "refresh-expired": "never", ...parameters, callback: resolve, "error-callback": failed,
      "timeout-callback": failed, "unsupported-callback": failed });
  });
  return solved(api, widget, signal, answer);
});

/** hCaptcha. */
export const hcaptcha = challenge("hcaptcha", async (api, parameters, container, signal) => {
  const widget = api.render(container, { size: "invisible", ...parameters });
  return own(await solved(api, widget, signal, api.execute(widget, { async: true })), "response");
});

/** reCAPTCHA v3, or with `enterprise: true` Enterprise. */
export const recaptcha = challenge("grecaptcha", async (api, { sitekey, enterprise, action = ACTION }) => {
  const used = enterprise ? api.enterprise : api;
  await new Promise(resolve => used.ready(resolve));
  return used.execute(sitekey, { action });
});
