package okhttp3;

import java.io.IOException;

/** What the library uses of OkHttp's interface. */
public interface Interceptor {
    Response intercept(Chain chain) throws IOException;

    interface Chain {
        Request request();

        Response proceed(Request request) throws IOException;
    }
}
