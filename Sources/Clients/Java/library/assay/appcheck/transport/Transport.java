package assay.appcheck.transport;

import java.io.IOException;

/**
 * Sends one request and returns the response: {@link UrlConnectionTransport}, or one of the program's own.
 *
 * <p>What an implementation must keep:
 *
 * <ul>
 *   <li>It follows no redirect: a response with a status of 300 to 399 is returned as it is.
 *   <li>It keeps no cookies and no cache, sends nothing twice, and verifies the server's certificate.
 *   <li>It throws when the whole response is not there within the request's time limit, and a
 *       {@link ResponseTooLongException} when its body exceeds the request's response limit. It does not read further then.
 *   <li>It may be called by several threads at once.
 * </ul>
 */
public interface Transport {
    /**
     * Sends a request.
     *
     * @throws IOException when there is no whole response
     */
    HttpResponse send(HttpRequest request) throws IOException;
}
