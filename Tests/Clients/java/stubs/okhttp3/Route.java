package okhttp3;

/** OkHttp's class. */
public final class Route {}
