package assay.appcheck;

import static assay.appcheck.Checks.equal;
import static assay.appcheck.Checks.failure;
import static assay.appcheck.Checks.that;

import java.io.File;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import assay.appcheck.AppCheckException.Code;
import assay.appcheck.android.AndroidKeyStoreAttestor;
import assay.appcheck.provider.AndroidKey;
import assay.appcheck.storage.BoundStorage;
import assay.appcheck.storage.ClientStorage;
import assay.appcheck.wire.Base64Text;
import assay.appcheck.wire.Bytes;
import assay.appcheck.wire.Json;

/** A key of the device at a server that a test scripts. */
final class AttestationTests {
    private static final String CHALLENGE = "generateAndroidKeyChallenge";
    private static final String ATTESTATION = "exchangeAndroidKeyAttestation";
    private static final String ASSERTION = "exchangeAndroidKeyAssertion";

    private static Scene phone(ScriptedServer server) throws Exception {
        SoftwareKeyStore.install(new File(Runner.setting("authority")));
        return new Scene(server.address, new AndroidKey(new AndroidKeyStoreAttestor(), "com.example.app"));
    }

    private static ScriptedServer.Script script(String challenge, String artifact, int assertion) {
        return call -> {
            if (call.target.endsWith(CHALLENGE)) {
                call.reply(200, "{\"challenge\":\"" + challenge + "\",\"ttl\":\"300s\"}");
            } else if (call.target.endsWith(ATTESTATION)) {
                call.reply(200, "{\"artifact\":\"" + artifact + "\",\"appCheckToken\":" + ScriptedServer.token(3600) + "}");
            } else {
                call.reply(assertion, assertion == 200 ? ScriptedServer.token(3600) : "{}", "Retry-After: 5");
            }
        };
    }

    public static void theEvidenceIsAsDocumented() throws Exception {
        try (ScriptedServer server = new ScriptedServer(script("AQID", "BAUG", 200)); Scene scene = phone(server)) {
            scene.token();
            Map<String, Object> attestation = Json.readObject(Bytes.utf8(server.calls.get(1).body));
            equal(attestation.keySet().toString(), "[attestationChain, challenge, limitedUse]");
            equal(Json.list(attestation.get("attestationChain")).size(), 4);
            equal(attestation.get("challenge"), "AQID");
            equal(attestation.get("limitedUse"), false);
            scene.check.awaitLimitedUseToken();
            Map<String, Object> assertion = Json.readObject(Bytes.utf8(server.calls.get(3).body));
            equal(assertion.keySet().toString(), "[artifact, challenge, assertion, limitedUse]");
            equal(assertion.get("artifact"), "BAUG");
            equal(assertion.get("limitedUse"), true);
            byte[] cbor = Json.bytes(assertion, "assertion");
            // The last 37 bytes: the package, no flags, the first counter.
            byte[] data = Arrays.copyOfRange(cbor, cbor.length - 37, cbor.length);
            equal(data, Bytes.join(Bytes.sha256(Bytes.utf8("com.example.app")), new byte[] {0, 0, 0, 0, 1}));
        }
    }

    public static void whatTheServerCannotReadIsReplacedOnce() throws Exception {
        for (int status : new int[] {400, 403}) {
            try (ScriptedServer server = new ScriptedServer(script("AQID", "BAUG", status)); Scene scene = phone(server)) {
                scene.token();
                scene.check.awaitToken(true);
                equal(scene.methods, Arrays.asList(CHALLENGE, ATTESTATION, CHALLENGE, ASSERTION, CHALLENGE, ATTESTATION));
            }
        }
    }

    public static void anotherFailureReplacesNothing() throws Exception {
        for (int status : new int[] {401, 404, 429, 500, 503}) {
            try (ScriptedServer server = new ScriptedServer(script("AQID", "BAUG", status)); Scene scene = phone(server)) {
                scene.token();
                failure(() -> scene.check.awaitToken(true));
                equal(scene.count(ATTESTATION), 1L);
                scene.clock.millis += 60_000;
                server.script(script("AQID", "BAUG", 200));
                scene.check.awaitToken(true);
                equal(scene.count(ATTESTATION), 1L);
            }
        }
    }

    public static void aRefusedAttestationIsNotTriedAgain() throws Exception {
        try (ScriptedServer server = new ScriptedServer(call -> {
            if (call.target.endsWith(CHALLENGE)) call.reply(200, "{\"challenge\":\"AQID\"}");
            else call.reply(403, "{}");
        }); Scene scene = phone(server)) {
            failure(Code.REFUSED, scene::token);
            equal(scene.methods, Arrays.asList(CHALLENGE, ATTESTATION));
        }
    }

    public static void aDeviceThatIsRefusedMakesOneKeyForATry() throws Exception {
        try (ScriptedServer server = new ScriptedServer(script("AQID", "BAUG", 200)); Scene scene = phone(server)) {
            scene.token();
            server.script(call -> {
                if (call.target.endsWith(CHALLENGE)) call.reply(200, "{\"challenge\":\"AQID\"}");
                else call.reply(403, "{}");
            });
            scene.methods.clear();
            failure(Code.REFUSED, () -> scene.check.awaitToken(true));
            equal(scene.methods, Arrays.asList(CHALLENGE, ASSERTION, CHALLENGE, ATTESTATION));
            scene.methods.clear();
            scene.clock.millis += 60_000;
            failure(Code.REFUSED, () -> scene.check.awaitToken(true));
            equal(scene.methods, Arrays.asList(CHALLENGE, ATTESTATION));
        }
    }

    public static void aReplyOfAnotherFormIsNoChallengeAndNoArtifact() throws Exception {
        String large = String.join("", Collections.nCopies(24_000, "A"));
        for (String[] lie : new String[][] {{"", "BAUG"}, {"!", "BAUG"}, {large, "BAUG"}, {"AQID", ""}, {"AQID", "!"}, {"AQID", large}}) {
            try (ScriptedServer server = new ScriptedServer(script(lie[0], lie[1], 200)); Scene scene = phone(server)) {
                failure(Code.MALFORMED_REPLY, scene::token);
                that(scene.storage.load(new BoundStorage(
                    ScriptedServer.APP, server.address, scene.storage, notice -> {}).key("android-key")) == null, "it is stored");
            }
        }
    }

    /** A request is proved while a new key is attested: what is stored of the new one stays. */
    public static void aProofByTheOldKeyDoesNotBringItBack() throws Exception {
        try (ScriptedServer server = new ScriptedServer(script("AQID", "BAUG", 200)); Scene scene = phone(server)) {
            scene.token();
            String key = new BoundStorage(ScriptedServer.APP, server.address, scene.storage, notice -> {}).key("android-key");
            byte[] former = scene.storage.load(key);
            SoftwareKeyStore.ENTRIES.clear();
            scene.check.awaitToken(true);
            byte[] current = scene.storage.load(key);
            boolean[] isLoaded = {false};
            BoundStorage storage = new BoundStorage(ScriptedServer.APP, server.address, new ClientStorage() {
                @Override
                public byte[] load(String name) {
                    boolean isFirst = !isLoaded[0];
                    isLoaded[0] = true;
                    return isFirst ? former : scene.storage.load(name);
                }

                @Override
                public void save(String name, byte[] value) {
                    scene.storage.save(name, value);
                }

                @Override
                public void remove(String name) {
                    scene.storage.remove(name);
                }
            }, notice -> {});
            String identifier = Json.text(Json.readObject(former), "key");
            AndroidKey provider = new AndroidKey(new AndroidKeyStoreAttestor(), "com.example.app");
            equal(provider.assertion(new byte[32], identifier, storage), null);
            equal(scene.storage.load(key), current);
        }
    }

    public static void aCounterIsNotUsedTwiceByManyThreads() throws Exception {
        String zeros = Base64Text.encode(new byte[32]);
        try (ScriptedServer server = new ScriptedServer(script("AQID", "BAUG", 200)); Scene scene = phone(server)) {
            scene.token();
            AndroidKey provider = new AndroidKey(new AndroidKeyStoreAttestor(), "com.example.app");
            BoundStorage storage = new BoundStorage(
                ScriptedServer.APP, server.address, scene.storage, notice -> {});
            String identifier = Json.text(Json.readObject(storage.load("android-key")), "key");
            Set<String> counters = ConcurrentHashMap.newKeySet();
            List<Thread> threads = new ArrayList<>();
            for (int index = 0; index < 8; index++) {
                Thread thread = new Thread(() -> {
                    try {
                        for (int count = 0; count < 50; count++) {
                            byte[] cbor = provider.assertion(new byte[32], identifier, storage);
                            counters.add(Bytes.hex(Arrays.copyOfRange(cbor, cbor.length - 4, cbor.length)));
                        }
                    } catch (AppCheckException failure) {
                        counters.add(failure.toString());
                    }
                });
                threads.add(thread);
                thread.start();
            }
            for (Thread thread : threads) thread.join();
            equal(counters.size(), 400);
            equal(provider.assertion(new byte[32], zeros, storage), null);
        }
    }
}
