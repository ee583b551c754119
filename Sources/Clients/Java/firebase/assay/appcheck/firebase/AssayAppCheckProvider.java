package assay.appcheck.firebase;

import com.google.android.gms.tasks.Task;
import com.google.android.gms.tasks.TaskCompletionSource;
import com.google.firebase.appcheck.AppCheckProvider;
import com.google.firebase.appcheck.AppCheckToken;

import assay.appcheck.AppCheckException;
import assay.appcheck.AssayAppCheck;
import assay.appcheck.TokenCallback;

/** Gives Firebase's App Check SDK the tokens of an {@link AssayAppCheck}. */
public final class AssayAppCheckProvider implements AppCheckProvider {
    /** Younger tokens are given again: Firebase has a cache of its own, and asks when it wants another one. */
    private static final long FRESH_MILLIS = 60_000;

    private final AssayAppCheck appCheck;

    /** @param appCheck stays the app's, which may use it beside Firebase, and closes it */
    public AssayAppCheckProvider(AssayAppCheck appCheck) {
        this.appCheck = appCheck;
    }

    @Override
    public Task<AppCheckToken> getToken() {
        TaskCompletionSource<AppCheckToken> source = new TaskCompletionSource<>();
        assay.appcheck.AppCheckToken current = appCheck.currentToken();
        boolean isFresh = current != null && current.lifetimeMillis() - appCheck.millisLeft(current) < FRESH_MILLIS;
        appCheck.getToken(current != null && !isFresh, Runnable::run, new TokenCallback() {
            @Override
            public void onToken(assay.appcheck.AppCheckToken token) {
                source.setResult(new FirebaseToken(token.text(), appCheck.millisLeft(token)));
            }

            @Override
            public void onFailure(AppCheckException error) {
                assay.appcheck.AppCheckToken kept = appCheck.currentToken();
                if (kept == null) source.setException(error);
                else onToken(kept);
            }
        });
        return source.getTask();
    }

    /** For version 19.1 of Firebase's SDK and later. */
    @Override
    public Task<AppCheckToken> getLimitedUseToken() {
        TaskCompletionSource<AppCheckToken> source = new TaskCompletionSource<>();
        appCheck.getLimitedUseToken(Runnable::run, new TokenCallback() {
            @Override
            public void onToken(assay.appcheck.AppCheckToken token) {
                source.setResult(new FirebaseToken(token.text(), appCheck.millisLeft(token)));
            }

            @Override
            public void onFailure(AppCheckException error) {
                source.setException(error);
            }
        });
        return source.getTask();
    }
}
