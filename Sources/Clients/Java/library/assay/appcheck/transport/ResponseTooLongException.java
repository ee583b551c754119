package assay.appcheck.transport;

import java.io.IOException;

/** A response has more bytes than the request allows. A server that answers so has answered: the library pauses. */
public final class ResponseTooLongException extends IOException {
    private static final long serialVersionUID = 1;

    /** @param limit the most bytes that were allowed */
    public ResponseTooLongException(int limit) {
        super("the response has more than " + limit + " bytes");
    }
}
