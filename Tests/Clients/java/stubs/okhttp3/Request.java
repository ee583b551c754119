package okhttp3;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What the library uses of OkHttp's class. */
public final class Request {
    private final String method;
    private final HttpUrl url;
    private final Map<String, String> fields;
    private final RequestBody body;

    public Request(String method, String url, RequestBody body) {
        this(method, new HttpUrl(url), new TreeMap<>(String.CASE_INSENSITIVE_ORDER), body);
    }

    private Request(String method, HttpUrl url, Map<String, String> fields, RequestBody body) {
        this.method = method;
        this.url = url;
        this.fields = fields;
        this.body = body;
    }

    public String method() {
        return method;
    }

    public HttpUrl url() {
        return url;
    }

    public RequestBody body() {
        return body;
    }

    public String header(String name) {
        return fields.get(name);
    }

    public List<String> headers(String name) {
        List<String> found = new ArrayList<>();
        if (fields.containsKey(name)) found.add(fields.get(name));
        return found;
    }

    public Builder newBuilder() {
        return new Builder(this);
    }

    public static class Builder {
        private final Request request;
        private final Map<String, String> fields = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);

        Builder(Request request) {
            this.request = request;
            fields.putAll(request.fields);
        }

        public Builder header(String name, String value) {
            fields.put(name, value);
            return this;
        }

        public Builder removeHeader(String name) {
            fields.remove(name);
            return this;
        }

        public Request build() {
            return new Request(request.method, request.url, fields, request.body);
        }
    }
}
