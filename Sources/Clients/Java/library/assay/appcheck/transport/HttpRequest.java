package assay.appcheck.transport;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** A request over HTTP; immutable. Names of fields are compared without regard to case. */
public final class HttpRequest {
    /** How long a request may take when nothing else is said, the response included: 30 seconds. */
    public static final int TIME_LIMIT_MILLIS = 30_000;
    /** The most bytes of a response's body when nothing else is said: 64 KB. */
    public static final int RESPONSE_LIMIT = 65_536;

    private final String method;
    private final String url;
    private final Map<String, String> headers;
    private final byte[] body;
    private final int timeLimitMillis;
    private final int responseLimit;

    /** Makes a request without header fields and body. */
    public HttpRequest(String method, String url) {
        this(method.toUpperCase(Locale.ROOT), url, Collections.emptyMap(), new byte[0], TIME_LIMIT_MILLIS, RESPONSE_LIMIT);
    }

    private HttpRequest(
        String method, String url, Map<String, String> headers, byte[] body, int timeLimitMillis, int responseLimit) {
        this.method = method;
        this.url = url;
        Map<String, String> copy = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        copy.putAll(headers);
        this.headers = Collections.unmodifiableMap(copy);
        this.body = body;
        this.timeLimitMillis = timeLimitMillis;
        this.responseLimit = responseLimit;
    }

    /** The same with a header field, in place of one of the same name. */
    public HttpRequest withHeader(String name, String value) {
        Map<String, String> changed = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        changed.putAll(headers);
        changed.put(name, value);
        return new HttpRequest(method, url, changed, body, timeLimitMillis, responseLimit);
    }

    /** The same with a body, which is copied. */
    public HttpRequest withBody(byte[] body) {
        return new HttpRequest(method, url, headers, body.clone(), timeLimitMillis, responseLimit);
    }

    /** The same with other limits. */
    public HttpRequest withLimits(int timeLimitMillis, int responseLimit) {
        return new HttpRequest(method, url, headers, body, timeLimitMillis, responseLimit);
    }

    /** The method, such as {@code POST}. */
    public String method() {
        return method;
    }

    /** The whole URL. */
    public String url() {
        return url;
    }

    /** The names of the header fields, without {@code Host} and {@code Content-Length}. */
    public List<String> headerNames() {
        return new ArrayList<>(headers.keySet());
    }

    /** The value of a header field; null without one. */
    public String header(String name) {
        return headers.get(name);
    }

    /** A copy of the body; empty for none. */
    public byte[] body() {
        return body.clone();
    }

    /** How long it may take in milliseconds, the response included. */
    public int timeLimitMillis() {
        return timeLimitMillis;
    }

    /** The most bytes that the body of the response may have. */
    public int responseLimit() {
        return responseLimit;
    }
}
