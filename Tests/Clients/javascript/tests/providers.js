// What each provider sends, with doubles of the services' scripts.
import { client, equal, failure, scene, that, timed, until, MINUTE } from "./scene.js";

const hour = { token: 3600 };

async function sends(provider, method, fields) {
  await client([hour], async (check, found) => {
    await check.getToken();
    await check.getLimitedUseToken();
    const calls = await found.calls();
    equal(calls.map(call => call.target.split(":").at(-1)), [method, method]);
    equal(calls.map(call => JSON.parse(call.body)), [{ ...fields, limitedUse: false }, { ...fields, limitedUse: true }]);
  }, { provider });
}

export async function customTokens() {
  await sends(scene.module.custom(async ({ limitedUse }) => `jwt.${typeof limitedUse}.x`), "exchangeCustomToken", { customToken: "jwt.boolean.x" });
}

export async function functionsOfThePage() {
  const { turnstile, hcaptcha, recaptcha } = scene.module;
  await sends(turnstile(async () => "t"), "exchangeTurnstileToken", { turnstileToken: "t" });
  await sends(hcaptcha(() => "h"), "exchangeHcaptchaToken", { hcaptchaToken: "h" });
  await sends(recaptcha(async () => "r"), "exchangeRecaptchaV3Token", { recaptchaV3Token: "r" });
  await sends(async ({ exchange }) => exchange("exchangeOwnToken", { own: 7 }), "exchangeOwnToken", { own: 7 });
}

/** A double of the script of Turnstile. */
class Turnstile {
  widgets = new Map();
  rendered = [];

  constructor(end) {
    this.end = end;
  }

  render(container, parameters) {
    const name = `w${this.rendered.push({ container, parameters })}`;
    this.widgets.set(name, parameters);
    setTimeout(() => this.end(parameters), 0);
    return name;
  }

  remove(name) {
    that(this.widgets.delete(name), `${name} is no widget`);
  }
}

export async function theWidgetOfTurnstileIsThereWhileItIsNeeded() {
  const { turnstile } = scene.module;
  const script = new Turnstile(parameters => parameters.callback("t"));
  await sends(turnstile({ sitekey: "k", container: "#here", theme: "dark", turnstile: script }), "exchangeTurnstileToken", { turnstileToken: "t" });
  equal(script.widgets.size, 0);
  const [{ container, parameters }] = script.rendered;
  equal([container, parameters.sitekey, parameters.action, parameters.theme, parameters.turnstile], ["#here", "k", "fire_app_check", "dark", undefined]);
}

export async function aChallengeThatFailsIsAFailureOfTheProvider() {
  const { turnstile, hcaptcha, recaptcha } = scene.module;
  for (const end of [
    parameters => parameters["error-callback"]("300030"), parameters => parameters["timeout-callback"](), parameters => parameters["unsupported-callback"](),
    parameters => parameters.callback(""), parameters => parameters.callback("t".repeat(20_000)),
  ]) {
    const script = new Turnstile(end);
    await client([hour], async (check, found) => {
      await failure("providerFailed", check.getToken());
      await found.count(0);
    }, { provider: turnstile({ sitekey: "k", container: "#here", turnstile: script }) });
    equal(script.widgets.size, 0);
  }
  // No script was loaded.
  for (const provider of [turnstile({ sitekey: "k" }), hcaptcha({ sitekey: "k" }), recaptcha({ sitekey: "k" })]) {
    await client([hour], async check => that((await failure("providerFailed", check.getToken())).message.includes("script")), { provider });
  }
}

export async function aWidgetThatDoesNotEndIsRemovedInTime() {
  const script = new Turnstile(() => {});
  await timed([hour], async (check, clock) => {
    const waiting = failure("timedOut", check.getToken());
    await until(() => script.widgets.size === 1);
    await clock.pass(2 * MINUTE);
    await waiting;
    await until(() => script.widgets.size === 0);
  }, { provider: scene.module.turnstile({ sitekey: "k", container: "#here", turnstile: script }) });
}

export async function hcaptchaIsInvisibleAndRemoved() {
  const calls = [];
  globalThis.hcaptcha = {
    render: (container, parameters) => calls.push(`render ${container} ${JSON.stringify(parameters)}`) && "w",
    execute: async (widget, options) => calls.push(`execute ${widget} ${JSON.stringify(options)}`) && { response: "h", key: "k" },
    remove: widget => calls.push(`remove ${widget}`),
  };
  try {
    await sends(scene.module.hcaptcha({ sitekey: "k", container: "#here" }), "exchangeHcaptchaToken", { hcaptchaToken: "h" });
  } finally {
    delete globalThis.hcaptcha;
  }
  equal(calls.slice(0, 3), ['render #here {"size":"invisible","sitekey":"k"}', 'execute w {"async":true}', "remove w"]);
}

export async function recaptchaOfBothKinds() {
  const asked = [];
  const script = name => ({ ready: work => setTimeout(work, 0), execute: async (key, options) => asked.push(`${name} ${key} ${JSON.stringify(options)}`) && name });
  const grecaptcha = { ...script("v3"), enterprise: script("enterprise") };
  await sends(scene.module.recaptcha({ sitekey: "k", grecaptcha }), "exchangeRecaptchaV3Token", { recaptchaV3Token: "v3" });
  await sends(scene.module.recaptcha({ sitekey: "k", grecaptcha, enterprise: true, action: "a" }), "exchangeRecaptchaEnterpriseToken", { recaptchaEnterpriseToken: "enterprise" });
  equal([...new Set(asked)], ['v3 k {"action":"fire_app_check"}', 'enterprise k {"action":"a"}']);
}
