package okhttp3;

/** What the library uses of OkHttp's class. */
public final class HttpUrl {
    private final String text;

    public HttpUrl(String text) {
        this.text = text;
    }

    @Override
    public String toString() {
        return text;
    }
}
