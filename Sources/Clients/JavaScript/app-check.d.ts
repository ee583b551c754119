/** The request header that carries a token. */
export const HEADER: "X-Firebase-AppCheck";

/** What failed. README.md says when each one occurs, and for how long nothing is sent then. */
export type AppCheckErrorCode =
  | "unreachable" | "timedOut" | "expiredOnArrival" | "providerFailed"
  | "throttled" | "unavailable" | "refused" | "notConfigured" | "rejected" | "redirected" | "malformedReply" | "foreignToken"
  | "insecure" | "invalidConfiguration" | "tooManyCallers" | "closed";

/** Every error of this module. A `cause` is the error of the platform or of your function. */
export class AppCheckError extends Error {
  constructor(code: AppCheckErrorCode, message: string, details?: {
    status?: number; decision?: string; retryAfterMillis?: number; cause?: unknown;
  });
  readonly name: "AppCheckError";
  readonly code: AppCheckErrorCode;
  /** The status of the server's answer. */
  readonly status: number | undefined;
  /** What the server's operator finds the reason by. */
  readonly decision: string | undefined;
  /** For how long calls fail without a request. */
  readonly retryAfterMillis: number | undefined;
}

/** A token as it is given out. */
export interface AppCheckToken {
  /** A JWT, for the header `X-Firebase-AppCheck`. */
  token: string;
  /** When it ends by the clock of this device, in milliseconds since 1970. */
  expireTimeMillis: number;
}

/** A token as a provider returns it. */
export interface IssuedToken {
  /** A JWT of at most 16,384 characters. */
  token: string;
  /** Decimal seconds with an `s`, at most 7 days, such as `"3600s"`: they count from when the provider was called. */
  ttl: string;
}

/** What a provider is asked for. */
export interface TokenRequest {
  /** The resource name of the app. */
  readonly app: string;
  /** Whether the token is for one use. */
  readonly limitedUse: boolean;
  /** Aborted when nobody waits for the token any more. */
  readonly signal: AbortSignal;
  /** Calls a method of the server with the evidence, such as `exchangeDebugToken`; `limitedUse` is added to the fields. */
  exchange(method: string, fields: Record<string, unknown>): Promise<IssuedToken>;
}

/** Gets a token with evidence: one of those below, or a function of yours. An `AppCheckError` that it throws is passed on. */
export type TokenProvider = (request: TokenRequest) => IssuedToken | Promise<IssuedToken>;

export interface AppCheckOptions {
  /** The server's URL, with or without `/v1`: `https`, or `http` for localhost, 127.0.0.1 and [::1]. */
  endpoint: string;
  /** The resource name: `projects/PROJECT/apps/APP_ID` or `oauthClients/CLIENT_ID`. */
  app: string;
  provider: TokenProvider;
  /** The origins to which `fetch` sends tokens, such as `https://api.example.com`. None by default. */
  origins?: string[];
  /** Where the session token is kept. `memory` keeps it for the page alone. Default: `indexedDB`, and memory where that is denied. */
  storage?: "indexedDB" | "memory";
  /** The limit of one request to the server. Default: 30,000. */
  requestLimitMillis?: number;
  /** The limit of one call of the provider. Default: 120,000. */
  fetchLimitMillis?: number;
}

/** The tokens of one app. Make one for each app, and keep it. Its functions need no `this`. */
export class AppCheck {
  /** Throws an `AppCheckError` with `insecure` or `invalidConfiguration`. It sends nothing. */
  constructor(options: AppCheckOptions);
  /** The kept token while it has more than five minutes left, otherwise a new one; with `true` a new one always. */
  readonly getToken: (forceRefresh?: boolean) => Promise<AppCheckToken>;
  /** A token for one use, made for this caller alone and never kept. */
  readonly getLimitedUseToken: () => Promise<AppCheckToken>;
  /** Tells of the present token and of each later one. While somebody listens, the token is renewed in the background. Returns the function that ends it. */
  readonly onTokenChanged: (onToken: (token: AppCheckToken) => void, onError?: (error: AppCheckError) => void) => () => void;
  /**
   * The platform's `fetch`, with a token for the origins of the options and without one for all others. A request is sent once more when
   * its token was refused and its body can be sent again. A redirect is not followed: it fails with `redirected`, or is returned for
   * `redirect: "manual"`.
   */
  readonly fetch: (input: RequestInfo | URL, init?: RequestInit, kind?: { limitedUse?: boolean }) => Promise<Response>;
  /** What `new CustomProvider(…)` of Firebase's SDK takes. */
  readonly assayProvider: () => { getToken: () => Promise<AppCheckToken> };
  /** Ends all waiting calls with `closed`. */
  readonly close: () => void;
}

/** A debug token that the operator registers. */
export function debug(token: string): TokenProvider;

/** A JWT that a backend of yours signs. */
export function custom(source: (request: TokenRequest) => string | Promise<string>): TokenProvider;

/** A function of yours that solves a challenge, and returns the response token. */
export type ChallengeSource = (request: TokenRequest) => string | Promise<string>;

/** Cloudflare Turnstile: a widget in `container` while a token is fetched. Other members are parameters of `turnstile.render`. */
export function turnstile(source: ChallengeSource | {
  sitekey: string; container: string | HTMLElement; action?: string; /** Default: the global of the script that the page has loaded. */ turnstile?: object; [parameter: string]: unknown;
}): TokenProvider;

/** hCaptcha: an invisible widget in `container` while a token is fetched. Other members are parameters of `hcaptcha.render`. */
export function hcaptcha(source: ChallengeSource | {
  sitekey: string; container: string | HTMLElement; /** Default: the global of the script that the page has loaded. */ hcaptcha?: object; [parameter: string]: unknown;
}): TokenProvider;

/** reCAPTCHA v3, or Enterprise. */
export function recaptcha(source: ChallengeSource | {
  sitekey: string; enterprise?: boolean; /** Default: `fire_app_check`. */ action?: string; /** Default: the global of the script that the page has loaded. */ grecaptcha?: object;
}): TokenProvider;
