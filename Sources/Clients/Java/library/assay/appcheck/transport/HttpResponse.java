package assay.appcheck.transport;

import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;

/** A response over HTTP; immutable. */
public final class HttpResponse {
    private final int status;
    private final Map<String, String> headers;
    private final byte[] body;

    /**
     * Makes a response.
     *
     * @param headers the fields; several of one name are joined with a comma
     */
    public HttpResponse(int status, Map<String, String> headers, byte[] body) {
        Map<String, String> copy = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        copy.putAll(headers);
        this.status = status;
        this.headers = Collections.unmodifiableMap(copy);
        this.body = body.clone();
    }

    /** The status. */
    public int status() {
        return status;
    }

    /** The value of a header field by its name, in any case; null without one. */
    public String header(String name) {
        return headers.get(name);
    }

    /** A copy of the body. */
    public byte[] body() {
        return body.clone();
    }
}
