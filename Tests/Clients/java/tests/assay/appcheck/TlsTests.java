package assay.appcheck;

import static assay.appcheck.Checks.failure;

import assay.appcheck.AppCheckException.Code;

/** A real server over TLS, whose certificate is for {@code localhost}. */
final class TlsTests {
    public static void aTrustedServerIsAsked() throws Exception {
        try (Scene scene = new Scene(Runner.setting("server"))) {
            scene.token();
        }
    }

    public static void aServerOfAnotherNameIsNot() throws Exception {
        try (Scene scene = new Scene(Runner.setting("server").replace("localhost", "127.0.0.1"))) {
            failure(Code.UNREACHABLE, scene::token);
        }
    }

    public static void aServerThatNobodyVouchesForIsNot() throws Exception {
        try (Scene scene = new Scene(Runner.setting("server"))) {
            failure(Code.UNREACHABLE, scene::token);
        }
    }
}
