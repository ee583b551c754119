package assay.appcheck;

import static assay.appcheck.Checks.equal;
import static assay.appcheck.Checks.failure;
import static assay.appcheck.Checks.that;
import static assay.appcheck.Checks.throwsArgument;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Proxy;
import java.net.ProxySelector;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

import assay.appcheck.AppCheckException.Code;
import assay.appcheck.provider.DebugTokens;
import assay.appcheck.provider.IssuedToken;
import assay.appcheck.storage.MemoryStorage;
import assay.appcheck.transport.HttpRequest;
import assay.appcheck.transport.UrlConnectionTransport;
import assay.appcheck.wire.Bytes;

/** A server that fails, and one that means no good. */
final class ReplyTests {
    private static void waits(Code code, long least, long most, int status, String... headers) throws Exception {
        try (ScriptedServer server = new ScriptedServer(call -> call.reply(status, "{}", headers)); Scene scene = new Scene(server.address)) {
            AppCheckException error = failure(code, scene::token);
            equal(error.status(), status);
            that(error.retryAfterMillis() >= least && error.retryAfterMillis() <= most, status + ": " + error.retryAfterMillis());
            scene.clock.millis += error.retryAfterMillis() - 500;
            AppCheckException again = failure(code, scene.check::awaitLimitedUseToken);
            equal(again.retryAfterMillis(), 500L);
            equal(scene.requests.get(), 1);
            scene.clock.millis += 500;
            failure(code, scene::token);
            equal(scene.requests.get(), 2);
        }
    }

    public static void nothingIsSentForAsLongAsTheServerAsks() throws Exception {
        waits(Code.THROTTLED, 7000, 10_500, 429, "Retry-After: 7");
        waits(Code.UNAVAILABLE, 3_600_000, 3_630_000, 503, "Retry-After: 86400");
        waits(Code.UNAVAILABLE, 30_000, 45_000, 503, "Retry-After: Wed, 21 Oct 2026 07:28:30 GMT", "Date: Wed, 21 Oct 2026 07:28:00 GMT");
        waits(Code.THROTTLED, 2000, 3000, 429, "Retry-After: soon");
        waits(Code.REFUSED, 2000, 3000, 403, "Retry-After: 7");
    }

    public static void otherFailuresHaveAPauseThatGrows() throws Exception {
        waits(Code.NOT_CONFIGURED, 2000, 3000, 404);
        waits(Code.REJECTED, 2000, 3000, 400);
        waits(Code.REJECTED, 2000, 3000, 401);
        waits(Code.REJECTED, 2000, 3000, 401, "WWW-Authenticate: Basic realm=\"a\"");
        waits(Code.UNAVAILABLE, 2000, 3000, 500);
        waits(Code.REDIRECTED, 2000, 3000, 302, "Location: /v1/elsewhere");
        waits(Code.MALFORMED_REPLY, 2000, 3000, 204);
        try (ScriptedServer server = new ScriptedServer(call -> call.reply(403, "{}")); Scene scene = new Scene(server.address)) {
            for (int failures = 1; failures <= 14; failures++) {
                long pause = failure(Code.REFUSED, scene::token).retryAfterMillis();
                long least = Math.min(1000L << failures, 3_600_000);
                that(pause >= least && pause <= Math.min(least * 3 / 2, 3_600_000), failures + ": " + pause);
                scene.clock.millis += pause;
            }
            server.script(call -> call.reply(200, ScriptedServer.token(3600)));
            AppCheckToken token = scene.token();
            server.script(call -> call.reply(403, "{}"));
            that(failure(Code.REFUSED, () -> scene.check.awaitToken(true)).retryAfterMillis() <= 3000, "a success does not end the counting");
            that(scene.token() == token, "what is kept is not given out in a pause");
        }
    }

    public static void aServerThatCannotBeReachedIsAskedAgainAtOnce() throws Exception {
        int port;
        try (ServerSocket free = new ServerSocket(0)) {
            port = free.getLocalPort();
        }
        try (Scene scene = new Scene("http://127.0.0.1:" + port)) {
            equal(failure(Code.UNREACHABLE, scene::token).retryAfterMillis(), null);
            try (ScriptedServer server = new ScriptedServer(port, call -> call.reply(200, ScriptedServer.token(3600)))) {
                scene.token();
            }
        }
    }

    public static void aReplyOfAnotherFormIsNoToken() throws Exception {
        String jwt = ScriptedServer.jwt(3600);
        String other = ScriptedServer.jwt("1:1234567890:android:other", "projects/example-project", 1000, 4600, "");
        String foreign = ScriptedServer.jwt("1:1234567890:android:321abc456def7890", "projects/other", 1000, 4600, "");
        String ended = ScriptedServer.jwt("1:1234567890:android:321abc456def7890", "projects/example-project", 1000, 1000, "");
        String large = ScriptedServer.jwt("1:1234567890:android:321abc456def7890", "projects/example-project", 1000, 4600,
            ",\"x\":\"" + String.join("", Collections.nCopies(20_000, "y")) + "\"");
        for (String body : Arrays.asList(
            "", "[]", "null", String.join("", Collections.nCopies(60_000, "[")), "{\"token\":\"" + jwt + "\"}", "{\"token\":7,\"ttl\":\"3600s\"}",
            "{\"token\":\"" + jwt + "\",\"ttl\":3600}", "{\"token\":\"" + jwt + "\",\"ttl\":\"1e9s\"}", "{\"token\":\"" + jwt + "\",\"ttl\":\"-1s\"}",
            "{\"token\":\"" + jwt + "\",\"ttl\":\"0s\"}", "{\"token\":\"" + jwt + "\",\"ttl\":\"999999999s\"}",
            "{\"token\":\"a.b.c\",\"ttl\":\"3600s\"}", "{\"token\":\"no jwt\",\"ttl\":\"3600s\"}", "{\"token\":\"" + large + "\",\"ttl\":\"3600s\"}",
            "{\"token\":\"" + ended + "\",\"ttl\":\"3600s\"}", "{\"token\":\"" + jwt + "\",\"ttl\":\"3600s\",\"ttl\":\"3600s\"}",
            "{\"token\":\"" + jwt + "\\n\",\"ttl\":\"3600s\"}")) {
            refuses(Code.MALFORMED_REPLY, body);
        }
        refuses(Code.FOREIGN_TOKEN, "{\"token\":\"" + other + "\",\"ttl\":\"3600s\"}");
        refuses(Code.FOREIGN_TOKEN, "{\"token\":\"" + foreign + "\",\"ttl\":\"3600s\"}");
    }

    private static void refuses(Code code, String body) throws Exception {
        try (ScriptedServer server = new ScriptedServer(call -> call.reply(200, body)); Scene scene = new Scene(server.address)) {
            failure(code, scene::token);
            equal(scene.check.currentToken(), null);
        }
    }

    public static void theShorterOfBothLifetimesCounts() throws Exception {
        try (ScriptedServer server = new ScriptedServer(call -> call.reply(200, "{\"token\":\"" + ScriptedServer.jwt(600) + "\",\"ttl\":\"3600.5s\"}"));
            Scene scene = new Scene(server.address)) {
            equal(scene.token().lifetimeMillis(), 600_000L);
        }
        try (Scene scene = new Scene("https://assay.example.com", request -> new IssuedToken(ScriptedServer.jwt(3600), 1500))) {
            equal(scene.token().lifetimeMillis(), 1500L);
        }
    }

    /** The server's clock is ahead or behind by five hours: no time of day is compared with the device's. */
    public static void noTimeOfDayIsCompared() throws Exception {
        long now = System.currentTimeMillis() / 1000;
        for (long wrong : new long[] {-5 * 3600, 5 * 3600}) {
            String jwt = ScriptedServer.jwt("1:1234567890:android:321abc456def7890", "projects/example-project", now + wrong, now + wrong + 3600, "");
            try (ScriptedServer server = new ScriptedServer(call -> call.reply(200, "{\"token\":\"" + jwt + "\",\"ttl\":\"3600s\"}"));
                Scene scene = new Scene(server.address)) {
                that(scene.token() == scene.token(), "the token is not kept");
                equal(scene.token().lifetimeMillis(), 3_600_000L);
            }
        }
    }

    public static void aSlowOrEndlessServerEndsWithinTheLimit() throws Exception {
        ScriptedServer.Script[] scripts = {
            call -> drip(call, "HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n\r\n", "a"), call -> drip(call, "HTTP/1.1 200 OK\r\n", "X-A: b\r\n"),
            call -> drip(call, "", "H"), call -> Thread.sleep(40_000),
            call -> {
                call.output.write(Bytes.utf8("HTTP/1.1 200 OK\r\n\r\n"));
                while (true) call.output.write(new byte[65_536]);
            },
            call -> {
                call.output.write(Bytes.utf8("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"));
                while (true) call.output.write(Bytes.utf8("1\r\na\r\n"));
            },
            call -> {
                call.output.write(Bytes.utf8("HTTP/1.1 200 OK\r\n"));
                while (true) call.output.write(Bytes.utf8("X-A: b\r\n"));
            },
        };
        for (int index = 0; index < scripts.length; index++) {
            ScriptedServer.Script script = scripts[index];
            AtomicBoolean isWhole = new AtomicBoolean();
            ScriptedServer.Script watched = call -> {
                script.answer(call);
                isWhole.set(true);
            };
            try (ScriptedServer server = new ScriptedServer(watched);
                Scene scene = new Scene(server.address, ScriptedServer.APP, new DebugTokens("a"), new MemoryStorage(), 1000, 60_000)) {
                Code code = failure(scene::token).code();
                // Of the floods, a body ends at its limit, and a header where the platform has one.
                boolean isBody = index == 4 || index == 5;
                that(isBody ? code == Code.MALFORMED_REPLY : code == Code.UNREACHABLE || index == 6, index + " is " + code);
                that(!isWhole.get(), index + " lasted until its script ended");
                equal(server.calls.size(), 1);
            }
        }
    }

    private static void drip(ScriptedServer.Call call, String start, String part) throws Exception {
        call.output.write(Bytes.utf8(start));
        for (int count = 0; count < 2000; count++) {
            call.output.write(Bytes.utf8(part));
            call.output.flush();
            Thread.sleep(20);
        }
    }

    /** The platform waits for a read of four seconds before it closes the connection; the limits of other requests hold nevertheless. */
    public static void aReadThatWaitsDelaysNoOtherLimit() throws Exception {
        AtomicBoolean hasEnded = new AtomicBoolean();
        UrlConnectionTransport transport = new UrlConnectionTransport();
        try (ScriptedServer waiting = new ScriptedServer(call -> {
                call.output.write(Bytes.utf8("HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n\r\n"));
                Thread.sleep(3900);
                call.output.write('a');
                Thread.sleep(40_000);
            });
            ScriptedServer dripping = new ScriptedServer(call -> drip(call, "HTTP/1.1 200 OK\r\n", "X-A: b\r\n"))) {
            Thread first = new Thread(() -> {
                fails(transport, waiting, 4000);
                hasEnded.set(true);
            });
            first.setDaemon(true);
            first.start();
            fails(transport, dripping, 4500);
            that(!hasEnded.get(), "the limit came after the end of another request");
            first.join(20_000);
            that(hasEnded.get(), "the request that waits has no limit");
        } finally {
            transport.close();
        }
    }

    private static void fails(UrlConnectionTransport transport, ScriptedServer server, int limitMillis) {
        try {
            transport.send(new HttpRequest("GET", server.address).withLimits(limitMillis, 65_536));
        } catch (IOException late) {
            return;
        }
        throw new AssertionError("there is an answer");
    }

    /** The limit may come before there is a connection that it could close: a busy device, a slow proxy script. */
    public static void aRequestThatIsLateBeforeItsConnectionEndsToo() throws Exception {
        ProxySelector before = ProxySelector.getDefault();
        ProxySelector.setDefault(new SlowSelector());
        AtomicBoolean isWhole = new AtomicBoolean();
        try (ServerSocket server = new ServerSocket(0, 16, InetAddress.getByName("127.0.0.1"));
            Scene scene = new Scene("https://127.0.0.1:" + server.getLocalPort(), ScriptedServer.APP, new DebugTokens("a"), new MemoryStorage(), 1000, 60_000)) {
            Thread drip = new Thread(() -> {
                try (Socket connection = server.accept()) {
                    // A record of TLS that takes 40 seconds.
                    connection.getOutputStream().write(new byte[] {0x16, 3, 3, 0x40, 0});
                    for (int count = 0; count < 2000; count++) {
                        connection.getOutputStream().write(0);
                        Thread.sleep(20);
                    }
                    isWhole.set(true);
                } catch (Exception ended) {
                    // The client has heard enough.
                }
            });
            drip.setDaemon(true);
            drip.start();
            failure(Code.UNREACHABLE, scene::token);
            that(!isWhole.get(), "the request lasted until its answer ended");
        } finally {
            ProxySelector.setDefault(before);
        }
    }

    /** It takes longer than the limit. */
    private static final class SlowSelector extends ProxySelector {
        @Override
        public List<Proxy> select(URI uri) {
            try {
                // The other question, for a proxy of sockets, is part of the limit of connecting.
                if (uri.getScheme().equals("https")) Thread.sleep(1500);
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
            }
            return Collections.singletonList(Proxy.NO_PROXY);
        }

        @Override
        public void connectFailed(URI uri, SocketAddress address, IOException failure) {}
    }

    /** A platform that sends a request again after a lost answer would use evidence twice. */
    public static void aRequestWithoutAnAnswerIsNotSentTwice() throws Exception {
        try (ScriptedServer server = new ScriptedServer(call -> {}); Scene scene = new Scene(server.address)) {
            failure(Code.UNREACHABLE, scene::token);
            equal(server.calls.size(), 1);
        }
    }

    public static void whatAServerSaysIsShortenedAndMovesNoCursor() throws Exception {
        String said = "\\u001b[2J\\u202e" + String.join("", Collections.nCopies(5000, "x"));
        try (ScriptedServer server = new ScriptedServer(call -> call.reply(
            500, "{\"error\":{\"message\":\"" + said + "\"}}", "X-Assay-Decision: two words")); Scene scene = new Scene(server.address)) {
            AppCheckException error = failure(Code.UNAVAILABLE, scene::token);
            that(error.getMessage().length() < 600 && error.getMessage().chars().allMatch(one -> one >= 32), error.getMessage());
            equal(error.decision(), null);
        }
        try (ScriptedServer server = new ScriptedServer(call -> call.reply(
            400, "{\"error\":{\"status\":\"FAILED_PRECONDITION\"}}", "x-assay-decision: d-1")); Scene scene = new Scene(server.address)) {
            equal(failure(Code.NOT_CONFIGURED, scene::token).decision(), "d-1");
        }
    }

    public static void plainHttpIsForThisMachine() {
        for (String server : Arrays.asList("http://assay.example.com", "http://10.0.2.2:8080", "assay.example.com", "https://assay.example.com?a", "https://a@assay.example.com", "")) {
            throwsArgument(() -> new AssayAppCheck(ScriptedServer.APP, server, request -> null, AppCheckOptions.standard()));
        }
        throwsArgument(() -> new AssayAppCheck("projects/p/apps/", "https://assay.example.com", request -> null, AppCheckOptions.standard()));
        new AssayAppCheck(ScriptedServer.APP, "http://10.0.2.2:8080", request -> null, AppCheckOptions.standard().allowingCleartext()).close();
    }

    public static void theRequestIsAsDocumented() throws Exception {
        try (ScriptedServer server = new ScriptedServer(call -> call.reply(200, ScriptedServer.token(3600))); Scene scene = new Scene(server.address + "/base/v1/")) {
            scene.token();
            ScriptedServer.Call call = server.calls.get(0);
            equal(call.method + " " + call.target, "POST /base/v1/" + ScriptedServer.APP + ":exchangeDebugToken");
            equal(call.headers.get("Content-Type"), "application/json");
            equal(call.body, "{\"debugToken\":\"0B7C5A5E-3F0E-4C5D-9E0F-6A1B2C3D4E5F\",\"limitedUse\":false}");
            equal(call.body.getBytes(StandardCharsets.UTF_8).length + "", call.headers.get("Content-Length"));
        }
    }
}
