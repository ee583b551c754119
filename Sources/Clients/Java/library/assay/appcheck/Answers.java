package assay.appcheck;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/** How callers are answered. */
final class Answers {
    private Answers() {}

    /** Completes a future. */
    static final class Future implements TokenCallback {
        final CompletableFuture<AppCheckToken> future = new CompletableFuture<>();

        @Override
        public void onToken(AppCheckToken token) {
            future.complete(token);
        }

        @Override
        public void onFailure(AppCheckException error) {
            future.completeExceptionally(error);
        }
    }

    /** Has another executor call back; if that one takes no work any more, the callback is called at once. */
    static final class Forwarded implements TokenCallback {
        private final Executor executor;
        private final TokenCallback callback;

        Forwarded(Executor executor, TokenCallback callback) {
            this.executor = executor;
            this.callback = callback;
        }

        @Override
        public void onToken(AppCheckToken token) {
            forward(() -> callback.onToken(token));
        }

        @Override
        public void onFailure(AppCheckException error) {
            forward(() -> callback.onFailure(error));
        }

        private void forward(Runnable call) {
            try {
                executor.execute(call);
            } catch (RejectedExecutionException ended) {
                call.run();
            }
        }
    }

    /** Wakes a thread that waits. */
    static final class Waiting implements TokenCallback {
        private final CountDownLatch isThere = new CountDownLatch(1);
        private AppCheckToken token;
        private AppCheckException error;

        @Override
        public void onToken(AppCheckToken token) {
            this.token = token;
            isThere.countDown();
        }

        @Override
        public void onFailure(AppCheckException error) {
            this.error = error;
            isThere.countDown();
        }

        AppCheckToken await() throws AppCheckException, InterruptedException {
            isThere.await();
            if (error == null) return token;
            // Of this thread's own, as each has its own trace; the first one is the cause.
            throw new AppCheckException(
                error.code(), error.reason(), error.status(), error.decision(), error.retryAfterMillis(), error);
        }
    }
}
