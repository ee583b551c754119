package assay.appcheck;

import static assay.appcheck.Checks.equal;
import static assay.appcheck.Checks.failure;
import static assay.appcheck.Checks.that;
import static assay.appcheck.Checks.throwsArgument;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import android.content.ContentResolver;
import android.content.Context;
import android.content.SharedPreferences;
import android.provider.Settings;
import okhttp3.Interceptor;
import okhttp3.Request;
import okhttp3.RequestBody;
import okhttp3.Response;
import okio.BufferedSink;

import assay.appcheck.AppCheckException.Code;
import assay.appcheck.android.AndroidClock;
import assay.appcheck.android.AndroidOptions;
import assay.appcheck.android.PreferencesStorage;
import assay.appcheck.calls.ProtectedCalls;
import assay.appcheck.calls.TokenKind;
import assay.appcheck.firebase.AssayAppCheckProviderFactory;
import assay.appcheck.okhttp.AppCheckInterceptor;
import assay.appcheck.provider.IssuedToken;
import assay.appcheck.provider.RequestProver;
import assay.appcheck.provider.TokenProvider;
import assay.appcheck.provider.TokenRequest;
import assay.appcheck.storage.BoundStorage;
import assay.appcheck.storage.ClientStorage;
import assay.appcheck.storage.FileStorage;
import assay.appcheck.transport.HttpRequest;
import assay.appcheck.transport.UrlConnectionTransport;
import assay.appcheck.wire.Base64Text;
import assay.appcheck.wire.Bytes;

/** Files, preferences, Firebase's SDK and OkHttp. */
final class AdapterTests {
    private static final String KEY = String.join("", java.util.Collections.nCopies(64, "a"));

    private static final class Preferences implements SharedPreferences, SharedPreferences.Editor {
        final Map<String, String> values = new HashMap<>();
        boolean isFull;

        @Override
        public String getString(String key, String other) {
            return values.getOrDefault(key, other);
        }

        @Override
        public Editor edit() {
            return this;
        }

        @Override
        public Editor putString(String key, String value) {
            if (!isFull) values.put(key, value);
            return this;
        }

        @Override
        public Editor remove(String key) {
            values.remove(key);
            return this;
        }

        @Override
        public boolean commit() {
            return !isFull;
        }
    }

    private static void keeps(ClientStorage storage) throws IOException {
        equal(storage.load(KEY), null);
        storage.remove(KEY);
        storage.save(KEY, new byte[] {1, -1});
        storage.save(KEY, new byte[] {2, -2, 3});
        equal(storage.load(KEY), new byte[] {2, -2, 3});
        storage.remove(KEY);
        equal(storage.load(KEY), null);
    }

    public static void preferencesKeepValues() throws Exception {
        Preferences preferences = new Preferences();
        ClientStorage storage = new PreferencesStorage(preferences);
        keeps(storage);
        preferences.values.put(KEY, "no Base 64");
        equal(storage.load(KEY), null);
        preferences.isFull = true;
        try {
            storage.save(KEY, new byte[0]);
            throw new AssertionError("it is said to be stored");
        } catch (IOException expected) {
            // Such as when the disk is full.
        }
    }

    public static void filesAreForTheirUserAlone() throws Exception {
        Path parent = Files.createTempDirectory("assay");
        File folder = new File(parent.toFile(), "a/b");
        FileStorage storage = new FileStorage(folder);
        keeps(storage);
        storage.save(KEY, new byte[70_000]);
        fails(storage);
        storage.save(KEY, new byte[] {7});
        Path file = new File(folder, KEY).toPath();
        equal(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)), "rw-------");
        equal(PosixFilePermissions.toString(Files.getPosixFilePermissions(folder.toPath())), "rwx------");
        equal(folder.list().length, 1);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));
        fails(storage);
        Path other = parent.resolve("other");
        Files.write(other, new byte[] {7});
        Files.setPosixFilePermissions(other, PosixFilePermissions.fromString("rw-------"));
        Files.delete(file);
        Files.createSymbolicLink(file, other);
        fails(storage);
        storage.save(KEY, new byte[] {8});
        equal(storage.load(KEY), new byte[] {8});
        equal(Files.readAllBytes(other), new byte[] {7});
    }

    private static void fails(FileStorage storage) {
        try {
            storage.load(KEY);
        } catch (IOException expected) {
            return;
        }
        throw new AssertionError("the file is read");
    }

    public static void theOptionsOfAnAndroidApp() throws Exception {
        Preferences preferences = new Preferences();
        Context context = new Context() {
            @Override
            public SharedPreferences getSharedPreferences(String name, int mode) {
                return preferences;
            }

            @Override
            public ContentResolver getContentResolver() {
                return new ContentResolver() {};
            }
        };
        equal(new AndroidClock(context).boot(), "boot-7");
        try (AssayAppCheck check = new AssayAppCheck(ScriptedServer.APP, "https://assay.example.com",
            request -> new IssuedToken(ScriptedServer.jwt(3600), 3_600_000), AndroidOptions.of(context))) {
            check.awaitToken(false);
            equal(preferences.values.size(), 1);
        }
        Settings.Global.bootCount = -1;
        try {
            equal(new AndroidClock(context).boot(), null);
        } finally {
            Settings.Global.bootCount = 7;
        }
    }

    public static void firebaseGetsTokens() throws Exception {
        int[] asked = {0};
        boolean[] fails = {false};
        try (Scene scene = new Scene("https://assay.example.com", request -> {
            if (fails[0]) throw new AppCheckException(Code.UNREACHABLE, "There is no network.");
            return new IssuedToken(ScriptedServer.jwt(request.isLimitedUse() ? 300 : 3600), 3_600_000 + ++asked[0]);
        })) {
            com.google.firebase.appcheck.AppCheckProvider provider =
                new AssayAppCheckProviderFactory(scene.check).create(new com.google.firebase.FirebaseApp());
            com.google.firebase.appcheck.AppCheckToken token = provider.getToken().await();
            equal(token.getToken(), scene.token().text());
            long left = token.getExpireTimeMillis() - System.currentTimeMillis();
            that(left > 3_590_000 && left <= 3_600_000, "it has " + left + " ms left");
            equal(provider.getToken().await().getToken(), token.getToken());
            scene.clock.millis += 60_000;
            // Firebase wants another one.
            String second = provider.getToken().await().getToken();
            that(!second.equals(token.getToken()), "an old token is given again");
            that(!provider.getLimitedUseToken().await().getToken().equals(second), "the session token is given for one use");
            equal(asked[0], 3);
            fails[0] = true;
            scene.clock.millis += 60_000;
            equal(provider.getToken().await().getToken(), second);
            scene.clock.millis += 3_600_000;
            failure(Code.UNREACHABLE, () -> provider.getToken().await());
        }
    }

    /** OkHttp's chain, as far as an interceptor of the network sees it. */
    private static final class Chain implements Interceptor.Chain {
        private final Request request;
        final List<Request> sent = new ArrayList<>();

        Chain(Request request) {
            this.request = request;
        }

        @Override
        public Request request() {
            return request;
        }

        @Override
        public Response proceed(Request request) {
            sent.add(request);
            return new Response(request, null, null, null);
        }
    }

    private static Request sent(AppCheckInterceptor interceptor, Request request) throws IOException {
        Chain chain = new Chain(request);
        interceptor.intercept(chain);
        equal(chain.sent.size(), 1);
        return chain.sent.get(0);
    }

    public static void okHttpSendsTokensToItsBackendsAlone() throws Exception {
        try (Scene scene = new Scene("https://assay.example.com", request -> new IssuedToken(ScriptedServer.jwt(3600), 3_600_000))) {
            AppCheckInterceptor interceptor = new AppCheckInterceptor(scene.check, TokenKind.SESSION, false, "https://api.example.com/");
            Request toBackend = sent(interceptor, new Request("GET", "https://api.example.com:443/orders?q={a|b}#part", null));
            String token = toBackend.header(AssayAppCheck.HEADER);
            equal(token, scene.token().text());
            // A redirect to another place takes the field of the request before with it.
            for (String url : new String[] {"https://other.example.com/", "http://api.example.com/", "https://api.example.com:8443/", "https://api.example.com.evil.example.com/"}) {
                equal(sent(interceptor, new Request("GET", url, null).newBuilder().header(AssayAppCheck.HEADER, token).build()).header(AssayAppCheck.HEADER), null);
            }
            throwsArgument(() -> new AppCheckInterceptor(scene.check, TokenKind.SESSION, false, "http://api.example.com"));
            throwsArgument(() -> new AppCheckInterceptor(scene.check, TokenKind.SESSION, false, "api.example.com"));

            String challenge = "AppCheck realm=\"a\", error=\"invalid_token\"";
            Request own = new Request("GET", "https://api.example.com/orders", null);
            Response refused = new Response(own, new Response(toBackend, null, null, challenge), null, challenge);
            // A token younger than a minute is not replaced.
            equal(interceptor.authenticate(null, refused), null);
            scene.clock.millis += 60_000;
            that(interceptor.authenticate(null, refused) == own, "the request is not sent again");
            that(!sent(interceptor, own).header(AssayAppCheck.HEADER).equals(token), "the refused token is sent again");
            equal(interceptor.authenticate(null, new Response(own, refused.networkResponse(), refused, challenge)), null);
            equal(interceptor.authenticate(null, new Response(own, refused.networkResponse(), null, "Basic realm=\"a\"")), null);
            equal(interceptor.authenticate(null, new Response(own, null, null, challenge)), null);
        }
    }

    public static void okHttpSendsATokenForEachRequest() throws Exception {
        try (Scene scene = new Scene("https://assay.example.com", request -> new IssuedToken(ScriptedServer.jwt(300), 300_000))) {
            AppCheckInterceptor interceptor = new AppCheckInterceptor(scene.check, TokenKind.LIMITED_USE, false, "https://api.example.com");
            Request own = new Request("GET", "https://api.example.com/", null);
            Request first = sent(interceptor, own);
            that(!first.header(AssayAppCheck.HEADER).equals(sent(interceptor, own).header(AssayAppCheck.HEADER)), "a token is sent twice");
            String challenge = "AppCheck error=\"invalid_token\"";
            that(interceptor.authenticate(null, new Response(own, new Response(first, null, null, challenge), null, challenge)) == own, "the request is not sent again");
        }
    }

    public static void okHttpProvesRequests() throws Exception {
        RequestBody body = new RequestBody() {
            @Override
            public void writeTo(BufferedSink sink) throws IOException {
                sink.write(new byte[] {1, 2, 3});
            }
        };
        try (Scene scene = new Scene("https://assay.example.com", new Proving())) {
            Request request = sent(new AppCheckInterceptor(scene.check, TokenKind.SESSION, true, "https://api.example.com"), new Request("POST", "https://api.example.com/a?b#c", body));
            equal(request.header("Content-Digest"), "sha-256=:" + Base64Text.encode(Bytes.sha256(new byte[] {1, 2, 3})) + ":");
            equal(request.header("Signature"), "appcheck=:AQI=:");
            that(request.header("Signature-Input").matches("appcheck=\\(\"@method\" \"@authority\" \"@request-target\" \"content-digest\"\\);created=1000;tag=\"appcheck-request\""), request.header("Signature-Input"));
        }
    }

    private static final class Proving implements TokenProvider, RequestProver {
        @Override
        public IssuedToken fetch(TokenRequest request) {
            String zeros = Base64Text.encode(new byte[32]);
            String key = ",\"cnf\":{\"jwk\":{\"x\":\"" + zeros + "\",\"y\":\"" + zeros + "\"}}";
            return new IssuedToken(ScriptedServer.jwt("1:1234567890:android:321abc456def7890", "projects/example-project", 1000, 4600, key), 3_600_000);
        }

        @Override
        public byte[] assertion(byte[] clientDataHash, String keyId, BoundStorage storage) {
            equal(clientDataHash.length, 32);
            return new byte[] {1, 2};
        }
    }

    public static void httpIsSentInTheClearToThisMachineAlone() throws Exception {
        try (Scene scene = new Scene("https://assay.example.com", request -> new IssuedToken(ScriptedServer.jwt(3600), 3_600_000));
            UrlConnectionTransport transport = new UrlConnectionTransport();
            ScriptedServer backend = new ScriptedServer(call -> call.reply(302, "", "Location: https://other.example.com/"))) {
            ProtectedCalls calls = new ProtectedCalls(
                scene.check, transport, TokenKind.SESSION, false);
            for (String url : new String[] {"http://api.example.com/", "http://localhost.example.com/", "https://a:b@example.com/", "ftp://localhost/", ""}) {
                failure(Code.INSECURE, () -> calls.send(new HttpRequest("GET", url)));
            }
            String token = scene.token().text();
            failure(Code.INSECURE, () -> calls.send(new HttpRequest("GET", backend.address + "/?a=" + token)));
            equal(calls.send(new HttpRequest("GET", backend.address)).status(), 302);
            equal(backend.calls.get(0).headers.get(AssayAppCheck.HEADER), token);
            // A refused token is replaced once, if it is not younger than a minute.
            backend.script(call -> call.reply(401, "", "WWW-Authenticate: AppCheck realm=\"a\", error=\"invalid_token\""));
            equal(calls.send(new HttpRequest("GET", backend.address)).status(), 401);
            equal(backend.calls.size(), 2);
            scene.clock.millis += 60_000;
            for (String method : new String[] {"GET", "POST"}) {
                int before = backend.calls.size();
                scene.clock.millis += 60_000;
                equal(calls.send(new HttpRequest(method, backend.address)).status(), 401);
                equal(backend.calls.size(), before + 2);
                that(!backend.calls.get(before).headers.get(AssayAppCheck.HEADER).equals(backend.calls.get(before + 1).headers.get(AssayAppCheck.HEADER)), "the same token is sent twice");
            }
            backend.script(call -> call.reply(401, "", "WWW-Authenticate: Bearer error=\"invalid_token\""));
            int before = backend.calls.size();
            equal(calls.send(new HttpRequest("POST", backend.address)).status(), 401);
            equal(backend.calls.size(), before + 1);
        }
    }
}
