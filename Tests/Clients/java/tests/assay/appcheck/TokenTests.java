package assay.appcheck;

import static assay.appcheck.Checks.equal;
import static assay.appcheck.Checks.eventually;
import static assay.appcheck.Checks.failure;
import static assay.appcheck.Checks.that;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import assay.appcheck.AppCheckException.Code;
import assay.appcheck.provider.IssuedToken;
import assay.appcheck.storage.ClientStorage;
import assay.appcheck.storage.MemoryStorage;

/** How tokens are kept, shared and renewed. */
final class TokenTests {
    private static ScriptedServer issuing(long seconds) throws Exception {
        return new ScriptedServer(call -> call.reply(200, ScriptedServer.token(seconds)));
    }

    public static void aTokenIsKeptUntilFiveMinutesBeforeItsEnd() throws Exception {
        try (ScriptedServer server = issuing(3600); Scene scene = new Scene(server.address)) {
            scene.takes = 100;
            AppCheckToken first = scene.token();
            equal(first.lifetimeMillis(), 3_600_000L);
            equal(scene.check.millisLeft(first), 3_599_900L);
            scene.clock.millis = first.expires - 300_001;
            that(scene.token() == first, "a token with more than five minutes left is not kept");
            scene.clock.millis++;
            that(scene.token() != first, "a token with five minutes left is given out");
            equal(scene.requests.get(), 2);
        }
    }

    public static void aShortTokenIsGivenToThoseThatWaited() throws Exception {
        try (ScriptedServer server = issuing(60); Scene scene = new Scene(server.address)) {
            that(!scene.token().text().equals(scene.token().text()), "a token with less than five minutes left is given out again");
        }
    }

    public static void twoHundredThreadsShareOneExchange() throws Exception {
        try (ScriptedServer server = issuing(3600); Scene scene = new Scene(server.address)) {
            List<String> texts = Collections.synchronizedList(new ArrayList<>());
            CountDownLatch start = new CountDownLatch(1);
            List<Thread> threads = new ArrayList<>();
            for (int index = 0; index < 200; index++) {
                Thread thread = new Thread(() -> {
                    try {
                        start.await();
                        texts.add(scene.token().text());
                    } catch (Exception failure) {
                        texts.add("failed");
                    }
                });
                threads.add(thread);
                thread.start();
            }
            start.countDown();
            for (Thread thread : threads) thread.join();
            equal(texts.size(), 200);
            equal(texts.stream().distinct().count(), 1L);
            equal(scene.requests.get(), 1);
        }
    }

    public static void aForcedRefreshJoinsAFetchThatRuns() throws Exception {
        CountDownLatch goOn = new CountDownLatch(1);
        try (ScriptedServer server = new ScriptedServer(call -> {
            goOn.await();
            call.reply(200, ScriptedServer.token(3600));
        }); Scene scene = new Scene(server.address)) {
            CompletableFuture<AppCheckToken> first = scene.check.getToken(false);
            eventually(() -> server.calls.size() == 1);
            CompletableFuture<AppCheckToken> second = scene.check.getToken(true);
            goOn.countDown();
            that(first.get() == second.get(), "there are two tokens");
            that(scene.check.getToken(true).get() != first.get(), "a forced refresh fetches nothing");
            equal(server.calls.size(), 2);
        }
    }

    public static void limitedUseTokensAreNewAndNotKept() throws Exception {
        try (ScriptedServer server = issuing(300); Scene scene = new Scene(server.address)) {
            AppCheckToken first = scene.check.awaitLimitedUseToken();
            AppCheckToken second = scene.check.getLimitedUseToken().get();
            that(first.isLimitedUse() && !first.text().equals(second.text()), "a token for one use is given twice");
            equal(scene.check.currentToken(), null);
            that(server.calls.get(0).body.contains("\"limitedUse\":true"), server.calls.get(0).body);
            that(!scene.token().isLimitedUse(), "the session token is for one use");
            that(server.calls.get(2).body.contains("\"limitedUse\":false"), server.calls.get(2).body);
        }
    }

    public static void exchangesComeOneAfterTheOther() throws Exception {
        AtomicInteger running = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        try (ScriptedServer server = new ScriptedServer(call -> {
            most.accumulateAndGet(running.incrementAndGet(), Math::max);
            Thread.sleep(20);
            running.decrementAndGet();
            call.reply(200, ScriptedServer.token(300));
        }); Scene scene = new Scene(server.address)) {
            List<CompletableFuture<AppCheckToken>> tokens = new ArrayList<>();
            for (int index = 0; index < 10; index++) tokens.add(scene.check.getLimitedUseToken());
            for (CompletableFuture<AppCheckToken> token : tokens) token.get();
            equal(most.get(), 1);
            equal(tokens.stream().map(token -> token.join().text()).distinct().count(), 10L);
        }
    }

    public static void nobodyWaitsThroughAPause() throws Exception {
        CountDownLatch goOn = new CountDownLatch(1);
        try (ScriptedServer server = new ScriptedServer(call -> {
            goOn.await();
            call.reply(503, "{}", "Retry-After: 7");
        }); Scene scene = new Scene(server.address)) {
            List<CompletableFuture<AppCheckToken>> tokens = new ArrayList<>();
            for (int index = 0; index < 5; index++) tokens.add(scene.check.getLimitedUseToken());
            tokens.add(scene.check.getToken(true));
            goOn.countDown();
            for (CompletableFuture<AppCheckToken> token : tokens) {
                that(failure(Code.UNAVAILABLE, () -> token.get(10, TimeUnit.SECONDS)).retryAfterMillis() >= 7000, "there is no pause");
            }
            equal(scene.requests.get(), 1);
        }
    }

    public static void moreCallersThanAreKeptAreTold() throws Exception {
        CountDownLatch goOn = new CountDownLatch(1);
        try (ScriptedServer server = new ScriptedServer(call -> {
            goOn.await();
            call.reply(200, ScriptedServer.token(3600));
        }); Scene scene = new Scene(server.address)) {
            List<CompletableFuture<AppCheckToken>> tokens = new ArrayList<>();
            for (int index = 0; index < 1000; index++) tokens.add(scene.check.getToken(false));
            failure(Code.TOO_MANY_CALLERS, () -> scene.check.awaitToken(false));
            failure(Code.TOO_MANY_CALLERS, scene.check::awaitLimitedUseToken);
            goOn.countDown();
            for (CompletableFuture<AppCheckToken> token : tokens) that(token.get() == tokens.get(0).get(), "there are two tokens");
        }
    }

    public static void aListenerHearsOfEachTokenAndKeepsItFresh() throws Exception {
        try (ScriptedServer server = issuing(3600); Scene scene = new Scene(server.address)) {
            List<AppCheckToken> heard = Collections.synchronizedList(new ArrayList<>());
            List<Code> errors = Collections.synchronizedList(new ArrayList<>());
            TokenListener listener = new TokenListener() {
                @Override
                public void onTokenChanged(AppCheckToken token) {
                    heard.add(token);
                }

                @Override
                public void onFailure(AppCheckException error) {
                    errors.add(error.code());
                }
            };
            scene.check.addListener(listener);
            eventually(() -> heard.size() == 1);
            AppCheckToken forced = scene.check.awaitToken(true);
            eventually(() -> heard.size() == 2);
            that(heard.get(1) == forced, "another token is heard of");
            server.script(call -> call.reply(500, "{}"));
            failure(Code.UNAVAILABLE, () -> scene.check.awaitToken(true));
            eventually(() -> errors.equals(Collections.singletonList(Code.UNAVAILABLE)));
            scene.check.removeListener(listener);
            scene.clock.millis += 10_000;
            server.script(call -> call.reply(200, ScriptedServer.token(3600)));
            scene.check.awaitToken(true);
            equal(heard.size(), 2);
        }
    }

    /** The timer of the library is a real one; its decisions are here. */
    public static void renewalsComeWhenTheyAreDue() {
        Recorder recorder = new Recorder();
        TokenLifecycle lifecycle = new TokenLifecycle(recorder, 120_000);
        lifecycle.listen(true, 0);
        lifecycle.finished(recorder.take(TokenLifecycle.Purpose.RESTORE), null, null, 0, 0);
        lifecycle.finished(recorder.take(TokenLifecycle.Purpose.SESSION), recorder.token(0, 3_600_000), null, 0, 0);
        equal(recorder.timer, 2_100_000L);
        lifecycle.wake(2_100_000, 0);
        lifecycle.finished(recorder.take(TokenLifecycle.Purpose.SESSION), recorder.token(2_100_000, 60_000), null, 2_100_000, 0);
        // Short ones once a minute.
        equal(recorder.timer, 2_160_000L);
        long now = 2_160_000;
        for (long wait : new long[] {60_000, 120_000, 240_000, 480_000, 960_000, 960_000}) {
            lifecycle.wake(now, 0);
            lifecycle.finished(
                recorder.take(TokenLifecycle.Purpose.SESSION), null, new AppCheckException(Code.UNREACHABLE, "none"), now, 0);
            equal(recorder.timer, now + wait);
            now += wait;
        }
        lifecycle.listen(false, now);
        equal(recorder.timer, null);
    }

    /** Whatever a caller waits for: also for others, of which each may take the whole limit. */
    public static void eachCallerHasALimitOfItsOwn() {
        Recorder recorder = new Recorder();
        TokenLifecycle lifecycle = new TokenLifecycle(recorder, 1000);
        lifecycle.wantLimitedUse(recorder.caller("1"), 0);
        TokenLifecycle.Fetch first = recorder.take(TokenLifecycle.Purpose.LIMITED_USE);
        lifecycle.wantLimitedUse(recorder.caller("2"), 300);
        lifecycle.want(recorder.caller("3"), true, 300);
        equal(recorder.timer, 1000L);
        lifecycle.wake(1000, 0);
        equal(recorder.answers, "1 TIMED_OUT, ");
        recorder.take(TokenLifecycle.Purpose.RESTORE);
        equal(recorder.timer, 1300L);
        lifecycle.wake(1300, 0);
        equal(recorder.answers, "1 TIMED_OUT, 2 TIMED_OUT, 3 TIMED_OUT, ");
        lifecycle.finished(first, recorder.token(0, 60_000), null, 1400, 0);
        equal(recorder.answers, "1 TIMED_OUT, 2 TIMED_OUT, 3 TIMED_OUT, ");
    }

    public static void aCallerThatWaitedForOthersSaysNothingOfTheServer() {
        Recorder recorder = new Recorder();
        TokenLifecycle lifecycle = new TokenLifecycle(recorder, 1000);
        lifecycle.wantLimitedUse(recorder.caller("1"), 0);
        lifecycle.wantLimitedUse(recorder.caller("2"), 0);
        lifecycle.finished(recorder.take(TokenLifecycle.Purpose.LIMITED_USE), recorder.token(0, 60_000), null, 900, 0);
        TokenLifecycle.Fetch second = recorder.take(TokenLifecycle.Purpose.LIMITED_USE);
        equal(recorder.timer, 1000L);
        lifecycle.wake(1000, 0);
        equal(recorder.answers, "1 a.b.c, 2 TIMED_OUT, ");
        equal(recorder.abandoned, second);
        lifecycle.wantLimitedUse(recorder.caller("3"), 1001);
        lifecycle.finished(recorder.take(TokenLifecycle.Purpose.LIMITED_USE), recorder.token(1001, 60_000), null, 1002, 0);
        equal(recorder.answers, "1 a.b.c, 2 TIMED_OUT, 3 a.b.c, ");
    }

    private static final class Recorder implements TokenLifecycle.Effects {
        private final List<TokenLifecycle.Fetch> begun = new ArrayList<>();
        Long timer;
        TokenLifecycle.Fetch abandoned;
        String answers = "";

        TokenCallback caller(String name) {
            return new TokenCallback() {
                @Override
                public void onToken(AppCheckToken token) {
                    answers += name + " " + token.text() + ", ";
                }

                @Override
                public void onFailure(AppCheckException error) {
                    answers += name + " " + error.code() + ", ";
                }
            };
        }

        TokenLifecycle.Fetch take(TokenLifecycle.Purpose purpose) {
            equal(begun.size(), 1);
            equal(begun.get(0).purpose, purpose);
            return begun.remove(0);
        }

        AppCheckToken token(long requested, long life) {
            return new AppCheckToken("a.b.c", requested, requested, requested + life, false);
        }

        @Override
        public void begin(TokenLifecycle.Fetch fetch) {
            begun.add(fetch);
        }

        @Override
        public void abandon(TokenLifecycle.Fetch fetch) {
            abandoned = fetch;
        }

        @Override
        public void answer(TokenCallback caller, AppCheckToken token, AppCheckException error) {
            if (error == null) caller.onToken(token);
            else caller.onFailure(error);
        }

        @Override
        public void publish(AppCheckToken token, AppCheckException error) {}

        @Override
        public void setTimer(Long moment) {
            timer = moment;
        }
    }

    public static void aStoredTokenNeedsNoFetch() throws Exception {
        try (ScriptedServer server = issuing(3600); Scene first = new Scene(server.address)) {
            AppCheckToken token = first.token();
            try (Scene second = new Scene(server.address, request -> { throw new AssertionError("it is asked"); }, first.storage)) {
                equal(second.token().text(), token.text());
            }
            try (Scene restarted = new Scene(server.address, request -> new IssuedToken(ScriptedServer.jwt(3600), 3_600_000), first.storage)) {
                restarted.clock.boot = "another start of the device";
                that(!restarted.token().text().equals(token.text()), "times of two starts are compared");
            }
            try (Scene late = new Scene(server.address, request -> new IssuedToken(ScriptedServer.jwt(3600), 3_600_000), first.storage)) {
                late.clock.millis += 3_600_000;
                that(!late.token().text().equals(token.text()), "an old token is used");
            }
        }
    }

    public static void storageThatIsLostOrFailsCostsAFetchAndNoToken() throws Exception {
        try (ScriptedServer server = issuing(3600)) {
            for (String kind : new String[] {"fails", "lies"}) {
                List<String> notices = Collections.synchronizedList(new ArrayList<>());
                ClientStorage storage = new ClientStorage() {
                    @Override
                    public byte[] load(String key) throws java.io.IOException {
                        if (kind.equals("lies")) return new byte[] {1, 2, 3};
                        throw new java.io.IOException("it fails");
                    }

                    @Override
                    public void save(String key, byte[] value) {
                        throw new IllegalStateException("it fails");
                    }

                    @Override
                    public void remove(String key) {
                        throw new IllegalStateException("it fails");
                    }
                };
                try (AssayAppCheck check = new AssayAppCheck(
                    ScriptedServer.APP, server.address, request -> new IssuedToken(ScriptedServer.jwt(3600), 3_600_000),
                    AppCheckOptions.standard().withStorage(storage).withNotice(notices::add))) {
                    that(check.awaitToken(false) == check.awaitToken(false), "the token is not kept in memory");
                }
                equal(notices.size(), 1);
            }
        }
    }

    public static void callbacksComeFromTheirExecutor() throws Exception {
        ExecutorService executor = Executors.newSingleThreadExecutor(work -> new Thread(work, "of the app"));
        try (ScriptedServer server = issuing(3600); Scene scene = new Scene(server.address)) {
            CompletableFuture<String> name = new CompletableFuture<>();
            scene.check.getToken(false, executor, new TokenCallback() {
                @Override
                public void onToken(AppCheckToken token) {
                    name.complete(Thread.currentThread().getName());
                }

                @Override
                public void onFailure(AppCheckException error) {
                    name.completeExceptionally(error);
                }
            });
            equal(name.get(10, TimeUnit.SECONDS), "of the app");
        } finally {
            executor.shutdown();
        }
    }

    public static void aThreadThatAnswersOthersDoesNotWaitForItself() throws Exception {
        try (ScriptedServer server = issuing(3600)) {
            AssayAppCheck[] check = new AssayAppCheck[1];
            check[0] = new AssayAppCheck(
                ScriptedServer.APP, server.address, request -> new IssuedToken(check[0].awaitToken(true).text(), 1), AppCheckOptions.standard());
            AppCheckException error = failure(Code.PROVIDER_FAILED, () -> check[0].awaitToken(false));
            that(error.getCause().getCause() instanceof IllegalStateException, "the cause is " + error.getCause());
            check[0].close();
        }
    }

    public static void aProviderThatHangsIsGivenUp() throws Exception {
        CountDownLatch isInterrupted = new CountDownLatch(1);
        AtomicInteger calls = new AtomicInteger();
        try (Scene scene = new Scene("http://127.0.0.1:1", ScriptedServer.APP, request -> {
            if (calls.incrementAndGet() > 1) return new IssuedToken(ScriptedServer.jwt(3600), 3_600_000);
            try {
                Thread.sleep(60_000);
            } catch (InterruptedException interrupted) {
                isInterrupted.countDown();
            }
            return null;
        }, new MemoryStorage(), 1000, 300)) {
            CompletableFuture<AppCheckToken> first = scene.check.getToken(false);
            eventually(() -> calls.get() == 1);
            scene.clock.millis += 300;
            failure(Code.TIMED_OUT, () -> first.get(10, TimeUnit.SECONDS));
            that(isInterrupted.await(10, TimeUnit.SECONDS), "the provider is not interrupted");
            scene.token();
        }
    }

    public static void closeEndsCallersAndThreads() throws Exception {
        long before = threads();
        CountDownLatch goOn = new CountDownLatch(1);
        try (ScriptedServer server = new ScriptedServer(call -> goOn.await())) {
            Scene scene = new Scene(server.address);
            CompletableFuture<AppCheckToken> token = scene.check.getToken(false);
            CompletableFuture<AppCheckToken> limited = scene.check.getLimitedUseToken();
            eventually(() -> server.calls.size() == 1);
            scene.close();
            failure(Code.CLOSED, () -> token.get(10, TimeUnit.SECONDS));
            failure(Code.CLOSED, () -> limited.get(10, TimeUnit.SECONDS));
            failure(Code.CLOSED, () -> scene.check.awaitToken(false));
            goOn.countDown();
            eventually(() -> threads() <= before);
        }
    }

    private static long threads() {
        return Thread.getAllStackTraces().keySet().stream().filter(thread -> thread.getName().startsWith("assay-app-check")).count();
    }

    public static void allThreadsAreDaemons() throws Exception {
        try (ScriptedServer server = issuing(3600); Scene scene = new Scene(server.address)) {
            scene.check.addListener(token -> {});
            scene.check.getToken(true).get();
            for (Thread thread : Thread.getAllStackTraces().keySet()) {
                that(thread.isDaemon() || !thread.getName().startsWith("assay-app-check"), thread.getName() + " is no daemon");
            }
        }
    }

    public static void nothingShowsTheToken() throws Exception {
        try (ScriptedServer server = issuing(3600); Scene scene = new Scene(server.address)) {
            AppCheckToken token = scene.token();
            that(!token.toString().contains(token.text()), "the text of a token shows it");
            that(!new IssuedToken(token.text(), 1).toString().contains(token.text()), "the text of an issued token shows it");
            equal(scene.notices, Collections.emptyList());
        }
    }
}
