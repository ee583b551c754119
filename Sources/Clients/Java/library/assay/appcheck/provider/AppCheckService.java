package assay.appcheck.provider;

import java.io.IOException;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

import assay.appcheck.AppCheckException;
import assay.appcheck.AppCheckException.Code;
import assay.appcheck.MonotonicClock;
import assay.appcheck.transport.HttpRequest;
import assay.appcheck.transport.HttpResponse;
import assay.appcheck.transport.ResponseTooLongException;
import assay.appcheck.transport.Transport;
import assay.appcheck.wire.AppName;
import assay.appcheck.wire.Json;
import assay.appcheck.wire.JsonText;
import assay.appcheck.wire.Limits;
import assay.appcheck.wire.ServerAddress;

/** The methods of an App Check service, called for one app. */
public final class AppCheckService {
    private final AppName app;
    private final ServerAddress address;
    private final Transport transport;
    private final MonotonicClock clock;
    private final int timeLimitMillis;

    /** @param address without the version of the methods */
    public AppCheckService(
        AppName app, ServerAddress address, Transport transport, MonotonicClock clock, int timeLimitMillis) {
        this.app = app;
        this.address = address;
        this.transport = transport;
        this.clock = clock;
        this.timeLimitMillis = timeLimitMillis;
    }

    /** The resource name of the app. */
    public String app() {
        return app.text;
    }

    /** The URL of the server. */
    public String server() {
        return address.text;
    }

    /**
     * Asks for a challenge of bytes, which is good for one call.
     *
     * @param method such as {@code generateAndroidKeyChallenge}
     */
    public byte[] challenge(String method) throws AppCheckException {
        ServiceReply reply = call(method, Collections.emptyMap());
        byte[] challenge = reply.bytes("challenge");
        if (challenge == null || challenge.length == 0 || challenge.length > Limits.CHALLENGE) {
            throw reply.malformed("`challenge` is not Base 64 of 1 to " + Limits.CHALLENGE + " bytes");
        }
        return challenge;
    }

    /**
     * Exchanges evidence for a token.
     *
     * @param body the fields: texts, whole numbers, booleans, bytes, and lists of these
     * @param isLimitedUse becomes the field {@code limitedUse}
     */
    public IssuedToken exchange(String method, Map<String, ?> body, boolean isLimitedUse) throws AppCheckException {
        Map<String, Object> members = new LinkedHashMap<>(body);
        members.put("limitedUse", isLimitedUse);
        return call(method, members).token(null);
    }

    /**
     * Calls a method.
     *
     * @throws AppCheckException an error of the server with its decision, or of the way to it
     */
    public ServiceReply call(String method, Map<String, ?> body) throws AppCheckException {
        HttpRequest request = new HttpRequest("POST", address.text + "/v1/" + app.text + ":" + method)
            .withHeader("Accept", "application/json").withHeader("Content-Type", "application/json")
            .withBody(JsonText.object(body)).withLimits(timeLimitMillis, Limits.REPLY);
        long start = clock.millis();
        HttpResponse response;
        try {
            response = transport.send(request);
        } catch (ResponseTooLongException tooLong) {
            throw new AppCheckException(Code.MALFORMED_REPLY, "The reply of " + method + " is too long.", tooLong);
        } catch (IOException | RuntimeException failure) {
            throw new AppCheckException(
                Code.UNREACHABLE, "There is no whole reply of " + method + ". Check the connection; the next call tries again.",
                failure);
        }
        if (response.status() < 200 || response.status() > 299) throw ServerFailure.of(response, method, app.text);
        byte[] content = response.body();
        Map<String, Object> members = Json.readObject(content);
        if (members == null) {
            throw new AppCheckException(
                Code.MALFORMED_REPLY, "The reply of " + method + " is no JSON object of at most " + Limits.REPLY
                    + " bytes. Check that the URL leads to an App Check service.", response.status(), null, null, null);
        }
        return new ServiceReply(method, start, members);
    }
}
