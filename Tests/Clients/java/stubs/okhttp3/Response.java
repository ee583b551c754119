package okhttp3;

import java.util.ArrayList;
import java.util.List;

/** What the library uses of OkHttp's class. */
public final class Response {
    private final Request request;
    private final Response networkResponse;
    private final Response priorResponse;
    private final String challenge;

    public Response(Request request, Response networkResponse, Response priorResponse, String challenge) {
        this.request = request;
        this.networkResponse = networkResponse;
        this.priorResponse = priorResponse;
        this.challenge = challenge;
    }

    public Request request() {
        return request;
    }

    public Response networkResponse() {
        return networkResponse;
    }

    public Response priorResponse() {
        return priorResponse;
    }

    public List<String> headers(String name) {
        List<String> found = new ArrayList<>();
        if (challenge != null && name.equalsIgnoreCase("WWW-Authenticate")) found.add(challenge);
        return found;
    }
}
