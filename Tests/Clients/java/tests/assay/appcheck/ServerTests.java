package assay.appcheck;

import static assay.appcheck.Checks.equal;
import static assay.appcheck.Checks.failure;
import static assay.appcheck.Checks.that;

import java.io.File;
import java.security.ProviderException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;

import android.os.Build;

import assay.appcheck.AppCheckException.Code;
import assay.appcheck.android.AndroidKeyStoreAttestor;
import assay.appcheck.calls.ProtectedCalls;
import assay.appcheck.calls.TokenKind;
import assay.appcheck.provider.AndroidKey;
import assay.appcheck.provider.CustomTokens;
import assay.appcheck.provider.DebugTokens;
import assay.appcheck.storage.BoundStorage;
import assay.appcheck.storage.MemoryStorage;
import assay.appcheck.transport.HttpRequest;
import assay.appcheck.transport.HttpResponse;
import assay.appcheck.transport.UrlConnectionTransport;
import assay.appcheck.wire.Json;
import assay.appcheck.wire.JsonText;

/** A real server, whose policy trusts the authority of the tests. */
final class ServerTests {
    private static final String CHALLENGE = "generateAndroidKeyChallenge";
    private static final String ATTESTATION = "exchangeAndroidKeyAttestation";
    private static final String ASSERTION = "exchangeAndroidKeyAssertion";

    private static Scene phone() throws Exception {
        SoftwareKeyStore.install(new File(Runner.setting("authority")));
        return phone(new MemoryStorage());
    }

    private static Scene phone(MemoryStorage storage) {
        return new Scene(Runner.setting("server"), new AndroidKey(new AndroidKeyStoreAttestor(), "com.example.app"), storage);
    }

    public static void aKeyIsAttestedOnceAndAssertsThen() throws Exception {
        try (Scene scene = phone()) {
            int made = SoftwareKeyStore.MADE.get();
            scene.token();
            for (int count = 0; count < 40; count++) scene.check.awaitToken(true);
            scene.check.awaitLimitedUseToken();
            equal(scene.count(ATTESTATION), 1L);
            equal(scene.count(ASSERTION), 41L);
            equal(scene.count(CHALLENGE), 42L);
            equal(SoftwareKeyStore.MADE.get() - made, 1);
            equal(scene.notices, Collections.emptyList());
        }
    }

    public static void aProgramThatStartsAgainGoesOnCounting() throws Exception {
        try (Scene first = phone()) {
            first.token();
            first.check.awaitToken(true);
            try (Scene second = phone(first.storage)) {
                second.clock.boot = "another";
                second.token();
                second.check.awaitToken(true);
                equal(second.methods, Arrays.asList(CHALLENGE, ASSERTION, CHALLENGE, ASSERTION));
            }
            // The former program still runs: its counters are below those of the second one, and so a new key is needed, once.
            first.check.awaitToken(true);
            equal(first.count(ATTESTATION), 2L);
        }
    }

    public static void aKeyThatIsGoneIsReplacedOnce() throws Exception {
        try (Scene scene = phone()) {
            scene.token();
            SoftwareKeyStore.ENTRIES.clear();
            scene.check.awaitToken(true);
            equal(scene.count(ATTESTATION), 2L);
            equal(scene.count(ASSERTION), 0L);
            scene.check.awaitToken(true);
            equal(scene.count(ATTESTATION), 2L);
            equal(scene.notices.size(), 1);
            equal(SoftwareKeyStore.ENTRIES.size(), 1);
        }
    }

    public static void anArtifactThatIsRefusedIsReplacedOnce() throws Exception {
        try (Scene scene = phone()) {
            scene.token();
            changeStored(scene, "artifact", new byte[] {1, 2, 3});
            scene.check.awaitToken(true);
            equal(scene.count(ASSERTION), 1L);
            equal(scene.count(ATTESTATION), 2L);
            scene.check.awaitToken(true);
            equal(scene.count(ATTESTATION), 2L);
            equal(SoftwareKeyStore.ENTRIES.size(), 1);
        }
    }

    /** A false server could have proofs of requests made in the place of assertions. */
    public static void whatWouldProveARequestIsNotSigned() throws Exception {
        try (Scene scene = phone()) {
            scene.token();
            changeStored(scene, "artifact", "\"@method\": POST\n\"@authority\": api.example.com".getBytes());
            scene.check.awaitToken(true);
            equal(scene.methods, Arrays.asList(CHALLENGE, ATTESTATION, CHALLENGE, CHALLENGE, ATTESTATION));
            equal(scene.notices.size(), 1);
        }
    }

    public static void anOldBackupIsMended() throws Exception {
        try (Scene first = phone()) {
            first.token();
            changeStored(first, "counter", 1L);
            for (int count = 0; count < 3; count++) first.check.awaitToken(true);
            changeStored(first, "counter", 1L);
            try (Scene restored = phone(first.storage)) {
                restored.clock.boot = "another";
                restored.token();
                equal(restored.methods, Arrays.asList(CHALLENGE, ASSERTION, CHALLENGE, ATTESTATION));
            }
        }
    }

    private static void changeStored(Scene scene, String member, Object value) {
        String key = new BoundStorage(ScriptedServer.APP, Runner.setting("server"), scene.storage, notice -> {})
            .key("android-key");
        Map<String, Object> members = Json.readObject(scene.storage.load(key));
        members.put(member, value);
        scene.storage.save(key, JsonText.object(members));
    }

    public static void storageThatIsLostCostsANewKey() throws Exception {
        try (Scene first = phone()) {
            first.token();
            try (Scene second = phone(new MemoryStorage())) {
                second.token();
                equal(second.methods, Arrays.asList(CHALLENGE, ATTESTATION));
            }
        }
    }

    public static void aSystemThatWasUpdatedAttestsANewKey() throws Exception {
        try (Scene scene = phone()) {
            scene.token();
            Build.VERSION.SECURITY_PATCH = "2026-12-05";
            // The device cannot do it yet.
            SoftwareKeyStore.failure = new ProviderException("no certificates left");
            scene.check.awaitToken(true);
            equal(scene.count(ASSERTION), 1L);
            equal(scene.notices.size(), 1);
            SoftwareKeyStore.failure = null;
            scene.check.awaitToken(true);
            scene.check.awaitToken(true);
            equal(scene.count(ATTESTATION), 2L);
            equal(scene.count(ASSERTION), 2L);
            equal(SoftwareKeyStore.ENTRIES.size(), 1);
        } finally {
            Build.VERSION.SECURITY_PATCH = "2026-11-05";
        }
    }

    public static void anUnlockedDeviceIsRefusedAndMakesOneKeyForATry() throws Exception {
        try (Scene scene = phone()) {
            SoftwareKeyStore.isLocked = false;
            int made = SoftwareKeyStore.MADE.get();
            AppCheckException error = failure(Code.REFUSED, scene::token);
            that(error.decision() != null && !error.isTransient() && error.retryAfterMillis() != null, error.getMessage());
            equal(Runner.ask("recorded " + error.decision()), "yes");
            failure(Code.REFUSED, scene::token);
            equal(scene.methods, Arrays.asList(CHALLENGE, ATTESTATION));
            scene.clock.millis += 3000;
            failure(Code.REFUSED, scene::token);
            equal(SoftwareKeyStore.MADE.get() - made, 2);
        }
    }

    public static void aKeyOfAStrangerIsRefused() throws Exception {
        SoftwareKeyStore.install(new File(Runner.setting("stranger")));
        try (Scene scene = phone(new MemoryStorage())) {
            failure(Code.REFUSED, scene::token);
        }
    }

    public static void aDeviceThatCannotAttestSaysSo() throws Exception {
        try (Scene scene = phone()) {
            SoftwareKeyStore.failure = new ProviderException("no attestation");
            that(failure(Code.DEVICE_FAILED, scene::token).retryAfterMillis() != null, "the device is asked again at once");
        }
        try (Scene scene = new Scene(Runner.setting("server"), new AndroidKey(
            new AndroidKeyStoreAttestor(true), "com.example.app"))) {
            SoftwareKeyStore.failure = null;
            // There is no chip of its own: it is made in the trusted execution environment.
            scene.token();
        }
    }

    public static void anExpiredSessionIsReplaced() throws Exception {
        try (Scene scene = phone()) {
            AppCheckToken first = scene.token();
            scene.clock.millis += first.lifetimeMillis() + 1;
            equal(scene.check.currentToken(), null);
            that(!scene.token().text().equals(first.text()), "an expired token is given out");
            equal(scene.methods, Arrays.asList(CHALLENGE, ATTESTATION, CHALLENGE, ASSERTION));
        }
    }

    public static void twoHundredThreadsAttestOnce() throws Exception {
        try (Scene scene = phone()) {
            List<String> texts = Collections.synchronizedList(new ArrayList<>());
            CountDownLatch start = new CountDownLatch(1);
            List<Thread> threads = new ArrayList<>();
            for (int index = 0; index < 200; index++) {
                Thread thread = new Thread(() -> {
                    try {
                        start.await();
                        texts.add(scene.token().text());
                    } catch (Exception failure) {
                        texts.add(failure.toString());
                    }
                });
                threads.add(thread);
                thread.start();
            }
            start.countDown();
            for (Thread thread : threads) thread.join();
            equal(texts.stream().distinct().count(), 1L);
            equal(texts.size(), 200);
            equal(scene.methods, Arrays.asList(CHALLENGE, ATTESTATION));
        }
    }

    public static void debugAndCustomTokens() throws Exception {
        try (Scene scene = new Scene(Runner.setting("server"))) {
            scene.token();
            that(scene.check.awaitLimitedUseToken().lifetimeMillis() == 300_000, "a token for one use lasts longer");
        }
        try (Scene scene = new Scene(Runner.setting("server"), new DebugTokens("00000000-0000-4000-8000-000000000000"))) {
            failure(Code.REFUSED, scene::token);
        }
        try (Scene scene = new Scene(Runner.setting("server"), new CustomTokens(() -> Runner.setting("custom")))) {
            scene.token();
        }
        try (Scene scene = new Scene(Runner.setting("server"), new CustomTokens(() -> "a.b.c"))) {
            failure(Code.REFUSED, scene::token);
        }
        try (Scene scene = new Scene(Runner.setting("server"), "projects/example-project/apps/1:2:android:ab", new DebugTokens("a"), new MemoryStorage(), 5000, 20_000)) {
            failure(Code.NOT_CONFIGURED, scene::token);
        }
    }

    public static void aLimitedUseTokenIsConsumedOnce() throws Exception {
        try (Scene scene = phone()) {
            HttpRequest request = new HttpRequest("GET", Runner.setting("server") + "/verify/payments");
            AppCheckToken token = scene.check.awaitLimitedUseToken();
            HttpRequest direct = request.withHeader(AssayAppCheck.HEADER, token.text());
            equal(scene.transport.send(direct).status(), 204);
            equal(scene.transport.send(direct).status(), 403);
            ProtectedCalls calls = new ProtectedCalls(scene.check, scene.transport, TokenKind.LIMITED_USE, false);
            for (int count = 0; count < 3; count++) equal(calls.send(request).status(), 204);
            // A session token is none of those.
            ProtectedCalls wrong = new ProtectedCalls(scene.check, scene.transport, TokenKind.SESSION, false);
            that(wrong.send(request).status() != 204, "a session token is accepted");
        }
    }

    public static void aProofIsAcceptedOnce() throws Exception {
        try (Scene scene = phone()) {
            AppCheckToken token = scene.token();
            HttpRequest request = new HttpRequest("POST", "https://api.example.com/payments?id=7&q={a|b}").withBody("{\"sum\":1}".getBytes());
            Map<String, String> proof = scene.check.proof(request, token);
            equal(judged(scene, "POST", "/payments?id=7&q={a|b}", token, proof), 204);
            equal(judged(scene, "POST", "/payments?id=7&q={a|b}", token, proof), 403);
            // In any order, and beside assertions, which count on.
            Map<String, String> second = scene.check.proof(request, token);
            Map<String, String> third = scene.check.proof(request, token);
            scene.check.awaitToken(true);
            equal(judged(scene, "POST", "/payments?id=7&q={a|b}", token, third), 204);
            equal(judged(scene, "POST", "/payments?id=7&q={a|b}", token, second), 204);
            equal(scene.count(ATTESTATION), 1L);
            Map<String, String> other = scene.check.proof(request, token);
            equal(judged(scene, "PUT", "/payments?id=7&q={a|b}", token, other), 403);
            equal(judged(scene, "POST", "/payments?id=8", token, other), 403);
            equal(judged(scene, "POST", "/payments", token, new HashMap<>()), 403);
            // Beside another signature.
            HttpRequest signed = request.withHeader("Signature-Input", "mine=(\"@method\")").withHeader("Signature", "mine=:AAAA:");
            equal(judged(scene, "POST", "/payments?id=7&q={a|b}", token, scene.check.proof(signed, token)), 204);
        }
    }

    private static int judged(Scene scene, String method, String target, AppCheckToken token, Map<String, String> proof) throws Exception {
        HttpRequest asked = new HttpRequest("GET", Runner.setting("server") + "/verify/orders")
            .withHeader("X-Original-Method", method).withHeader("X-Original-URI", target).withHeader(AssayAppCheck.HEADER, token.text());
        for (Map.Entry<String, String> field : proof.entrySet()) asked = asked.withHeader(field.getKey(), field.getValue());
        return scene.transport.send(asked).status();
    }

    public static void aProofNeedsTheKeyOfItsToken() throws Exception {
        try (Scene scene = phone()) {
            AppCheckToken token = scene.token();
            HttpRequest request = new HttpRequest("GET", "https://api.example.com/");
            SoftwareKeyStore.ENTRIES.clear();
            failure(Code.KEY_CHANGED, () -> scene.check.proof(request, token));
            AppCheckToken fresh = scene.check.awaitToken(true);
            scene.check.proof(request, fresh);
            failure(Code.KEY_CHANGED, () -> scene.check.proof(request, token));
            failure(Code.INSECURE, () -> scene.check.proof(new HttpRequest("GET", "http://api.example.com/"), fresh));
        }
        try (Scene scene = new Scene(Runner.setting("server"))) {
            failure(Code.NOT_CONFIGURED, () -> scene.check.proof(new HttpRequest("GET", "https://api.example.com/"), scene.token()));
        }
    }

    /** Behind a proxy that asks the server about each request, and a key that is lost meanwhile. */
    public static void callsAreProvedAndMended() throws Exception {
        int port = Integer.parseInt(Runner.setting("proxy"));
        try (Scene scene = phone(); ScriptedServer proxy = new ScriptedServer(port, call -> {
            HttpRequest asked = new HttpRequest("GET", Runner.setting("server") + "/verify/orders")
                .withHeader("X-Original-Method", call.method).withHeader("X-Original-URI", call.target);
            for (String name : Arrays.asList(AssayAppCheck.HEADER, "Content-Digest", "Signature-Input", "Signature")) {
                if (call.headers.containsKey(name)) asked = asked.withHeader(name, call.headers.get(name));
            }
            HttpResponse verdict = new UrlConnectionTransport().send(asked);
            String challenge = verdict.header("WWW-Authenticate");
            call.reply(verdict.status() == 204 ? 200 : verdict.status(), "{}", challenge == null ? "X-A: b" : "WWW-Authenticate: " + challenge);
        })) {
            ProtectedCalls calls = new ProtectedCalls(scene.check, scene.transport, TokenKind.SESSION, true);
            equal(calls.send(new HttpRequest("GET", proxy.address)).status(), 200);
            HttpRequest payment = new HttpRequest("POST", proxy.address + "/payments?id=1").withBody(new byte[] {1, 2, 3});
            equal(calls.send(payment).status(), 200);
            equal(calls.send(payment).status(), 200);
            SoftwareKeyStore.ENTRIES.clear();
            equal(calls.send(payment).status(), 200);
            equal(scene.count(ATTESTATION), 2L);
        }
    }
}
