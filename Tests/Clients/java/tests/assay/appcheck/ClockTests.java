package assay.appcheck;

import static assay.appcheck.Checks.that;

import assay.appcheck.transport.HttpRequest;
import assay.appcheck.transport.UrlConnectionTransport;
import assay.appcheck.wire.HttpDate;

/** That a test with a wrong clock has one. */
final class ClockTests {
    public static void theTimeOfDayIsWrong() throws Exception {
        try (UrlConnectionTransport transport = new UrlConnectionTransport()) {
            Long server = HttpDate.millis(transport.send(new HttpRequest("GET", Runner.setting("server") + "/v1/jwks")).header("Date"));
            that(server != null && Math.abs(System.currentTimeMillis() - server) > 4 * 3_600_000L, "the clock is right");
        }
    }
}
