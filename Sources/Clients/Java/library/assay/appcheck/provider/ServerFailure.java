package assay.appcheck.provider;

import java.util.Map;
import java.util.regex.Pattern;

import assay.appcheck.AppCheckException;
import assay.appcheck.AppCheckException.Code;
import assay.appcheck.transport.HttpResponse;
import assay.appcheck.wire.HttpDate;
import assay.appcheck.wire.Json;
import assay.appcheck.wire.ShownText;

/** What a response other than a success means. */
final class ServerFailure {
    private static final Pattern SECONDS = Pattern.compile("[0-9]{1,9}");
    private static final Pattern IDENTIFIER = Pattern.compile("[!-~]{1,128}");

    private ServerFailure() {}

    static AppCheckException of(HttpResponse response, String method, String app) {
        Map<String, Object> body = Json.readObject(response.body());
        Map<String, Object> error = body == null ? null : Json.object(body.get("error"));
        String said = Json.text(error, "message");
        Code code = code(response.status(), "FAILED_PRECONDITION".equals(Json.text(error, "status")));
        return new AppCheckException(
            code, words(code, method, app) + (said == null ? "" : " The server says: " + ShownText.of(said)),
            response.status(), decision(response), retryAfter(response), null);
    }

    private static Code code(int status, boolean isPrecondition) {
        switch (status) {
            case 400: return isPrecondition ? Code.NOT_CONFIGURED : Code.REJECTED;
            case 403: return Code.REFUSED;
            case 404: return Code.NOT_CONFIGURED;
            case 408: case 425: return Code.UNAVAILABLE;
            case 429: return Code.THROTTLED;
            default: break;
        }
        switch (status / 100) {
            case 3: return Code.REDIRECTED;
            case 4: return Code.REJECTED;
            case 5: return Code.UNAVAILABLE;
            default: return Code.MALFORMED_REPLY;
        }
    }

    private static String words(Code code, String method, String app) {
        switch (code) {
            case REFUSED:
                return "The server refused " + method + " for " + app
                    + ". Its operator learns why by `assay decisions show` with the identifier of the decision.";
            case NOT_CONFIGURED:
                return "The server has not set up " + method + " for " + app + ". Check the app's name and the server's policy.";
            case REJECTED:
                return "The server rejected " + method + " as such. Check the versions of the library and the server.";
            case THROTTLED: return "The server asks for fewer requests. Do not force a refresh.";
            case UNAVAILABLE: return "The server cannot decide now. The library tries again after a pause.";
            case REDIRECTED: return "The server redirects " + method + ", which is not followed. Use the address that it names.";
            default: return "The server answers " + method + " with a status that is no answer.";
        }
    }

    private static String decision(HttpResponse response) {
        String text = response.header("x-assay-decision");
        return text != null && IDENTIFIER.matcher(text).matches() ? text : null;
    }

    /** How long the server wants to be left alone (RFC 9110, section 10.2.3), where its status says so. */
    private static Long retryAfter(HttpResponse response) {
        String text = response.header("retry-after");
        if (text == null || response.status() != 429 && response.status() != 503) return null;
        if (SECONDS.matcher(text).matches()) return Long.parseLong(text) * 1000;
        // A date is compared with the server's own: the clock of the device may be wrong.
        Long then = HttpDate.millis(text);
        Long now = HttpDate.millis(response.header("date"));
        return then == null || now == null ? null : (Long) Math.max(then - now, 1000);
    }
}
