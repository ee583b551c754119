package okhttp3;

import java.io.IOException;

/** OkHttp's interface. */
public interface Authenticator {
    Request authenticate(Route route, Response response) throws IOException;
}
