package assay.appcheck;

import static assay.appcheck.Checks.equal;
import static assay.appcheck.Checks.failure;
import static assay.appcheck.Checks.that;
import static assay.appcheck.Checks.throwsArgument;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

import assay.appcheck.AppCheckException.Code;
import assay.appcheck.provider.CustomTokens;
import assay.appcheck.provider.DebugTokens;
import assay.appcheck.provider.PlayIntegrity;
import assay.appcheck.provider.TokenProvider;

/** What providers send. */
final class ProviderTests {
    private static final String NONCE = "cGxheS1jaGFsbGVuZ2U_-w==";

    private static ScriptedServer play(String challenge) throws Exception {
        return new ScriptedServer(call -> call.reply(200, call.target.endsWith("generatePlayIntegrityChallenge")
            ? "{\"challenge\":\"" + challenge + "\",\"ttl\":\"300s\"}" : ScriptedServer.token(3600)));
    }

    public static void playIntegrityIsAskedWithTheChallengeUnchanged() throws Exception {
        List<String> nonces = new ArrayList<>();
        TokenProvider provider = new PlayIntegrity(nonce -> {
            nonces.add(nonce);
            return "integrity-token-" + nonces.size();
        });
        try (ScriptedServer server = play(NONCE); Scene scene = new Scene(server.address, provider)) {
            scene.token();
            scene.check.awaitLimitedUseToken();
            equal(nonces, Arrays.asList(NONCE, NONCE));
            equal(scene.methods, Arrays.asList(
                "generatePlayIntegrityChallenge", "exchangePlayIntegrityToken", "generatePlayIntegrityChallenge", "exchangePlayIntegrityToken"));
            equal(server.calls.get(0).body, "{}");
            equal(server.calls.get(1).body, "{\"playIntegrityToken\":\"integrity-token-1\"}");
            equal(server.calls.get(3).body, "{\"playIntegrityToken\":\"integrity-token-2\",\"limited_use\":true}");
        }
    }

    public static void playIntegrityFailsWithItsCause() throws Exception {
        IllegalStateException cause = new IllegalStateException("-9: API_NOT_AVAILABLE");
        try (ScriptedServer server = play(NONCE); Scene scene = new Scene(server.address, new PlayIntegrity(nonce -> { throw cause; }))) {
            AppCheckException error = failure(Code.PROVIDER_FAILED, scene::token);
            that(error.getCause().getCause() == cause && error.retryAfterMillis() == null, "the cause is " + error.getCause());
            equal(scene.methods, Collections.singletonList("generatePlayIntegrityChallenge"));
        }
        TokenProvider patient = new PlayIntegrity(nonce -> {
            throw new AppCheckException(Code.PROVIDER_FAILED, "Too many requests.", null, null, 60_000L, cause);
        });
        try (ScriptedServer server = play(NONCE); Scene scene = new Scene(server.address, patient)) {
            that(failure(Code.PROVIDER_FAILED, scene::token).retryAfterMillis() >= 60_000, "the provider's pause is not kept");
            equal(scene.requests.get(), 1);
            failure(Code.PROVIDER_FAILED, scene::token);
            equal(scene.requests.get(), 1);
        }
        for (String challenge : Arrays.asList("", "short", "with spaces in it, and long enough", "a+/b/c+d/e+f/g+h/")) {
            try (ScriptedServer server = play(challenge); Scene scene = new Scene(server.address, new PlayIntegrity(nonce -> "token"))) {
                failure(Code.MALFORMED_REPLY, scene::token);
            }
        }
    }

    public static void customTokensAreExchanged() throws Exception {
        try (ScriptedServer server = new ScriptedServer(call -> call.reply(200, ScriptedServer.token(3600)));
            Scene scene = new Scene(server.address, new CustomTokens(() -> "custom.jwt.text"))) {
            scene.token();
            equal(scene.methods, Collections.singletonList("exchangeCustomToken"));
            equal(server.calls.get(0).body, "{\"customToken\":\"custom.jwt.text\",\"limitedUse\":false}");
        }
        try (Scene scene = new Scene("https://assay.example.com", new CustomTokens(() -> null))) {
            failure(Code.PROVIDER_FAILED, scene::token);
        }
    }

    public static void aDebugTokenIsMadeOnceAndToldWhenItIsRefused() throws Exception {
        try (ScriptedServer server = new ScriptedServer(call -> call.reply(403, "{}")); Scene scene = new Scene(server.address, DebugTokens.generated())) {
            failure(Code.REFUSED, scene::token);
            scene.clock.millis += 10_000;
            failure(Code.REFUSED, scene::token);
            equal(scene.notices.size(), 1);
            equal(server.calls.get(0).body, server.calls.get(1).body);
            try (Scene second = new Scene(server.address, DebugTokens.generated(), scene.storage)) {
                failure(Code.REFUSED, second::token);
                equal(server.calls.get(2).body, server.calls.get(0).body);
                equal(second.notices, scene.notices);
            }
        }
        for (String text : Arrays.asList("", "a b", "a\n", String.join("", Collections.nCopies(257, "a")))) {
            throwsArgument(() -> new DebugTokens(text));
        }
    }

    public static void aProviderThatFailsEndsNoThread() throws Exception {
        for (TokenProvider broken : Arrays.<TokenProvider>asList(
            request -> { throw new IllegalStateException(); }, request -> null, request -> { throw new StackOverflowError(); },
            request -> { throw new NoClassDefFoundError(); })) {
            try (Scene scene = new Scene("https://assay.example.com", broken)) {
                equal(failure(Code.PROVIDER_FAILED, scene::token).retryAfterMillis(), null);
                failure(Code.PROVIDER_FAILED, scene.check::awaitLimitedUseToken);
            }
        }
    }
}
