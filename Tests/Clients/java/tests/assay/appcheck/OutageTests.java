package assay.appcheck;

import static assay.appcheck.Checks.equal;
import static assay.appcheck.Checks.failure;
import static assay.appcheck.Checks.that;

import java.io.File;

import assay.appcheck.AppCheckException.Code;
import assay.appcheck.android.AndroidKeyStoreAttestor;
import assay.appcheck.provider.AndroidKey;

/** A real server that goes down, and comes up again. */
final class OutageTests {
    public static void aServerThatWasDownIsUsedAgain() throws Exception {
        SoftwareKeyStore.install(new File(Runner.setting("authority")));
        try (Scene scene = new Scene(Runner.setting("server"), new AndroidKey(new AndroidKeyStoreAttestor(), "com.example.app"))) {
            AppCheckToken kept = scene.token();
            equal(Runner.ask("kill"), "done");
            that(scene.token() == kept, "what is kept is not given out");
            equal(failure(Code.UNREACHABLE, () -> scene.check.awaitToken(true)).retryAfterMillis(), null);
            equal(Runner.ask("start"), "done");
            that(scene.check.awaitToken(true) != kept, "there is no new token");
            equal(scene.count("exchangeAndroidKeyAttestation"), 1L);
            equal(scene.count("exchangeAndroidKeyAssertion"), 1L);
        }
    }
}
