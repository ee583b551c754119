package okhttp3;

import java.io.IOException;

import okio.BufferedSink;

/** What the library uses of OkHttp's class. */
public abstract class RequestBody {
    public abstract void writeTo(BufferedSink sink) throws IOException;

    public boolean isOneShot() {
        return false;
    }

    public boolean isDuplex() {
        return false;
    }
}
