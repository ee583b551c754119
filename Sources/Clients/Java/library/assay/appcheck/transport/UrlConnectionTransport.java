package assay.appcheck.transport;

import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpRetryException;
import java.net.HttpURLConnection;
import java.net.Proxy;
import java.net.SocketTimeoutException;
import java.net.URL;
import java.net.URLConnection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import assay.appcheck.wire.Texts;

/**
 * Sends requests by {@code HttpURLConnection}: each over a connection of its own, without cache and redirects. There are cookies
 * only if the program has set a {@code CookieHandler} for all of its connections. After an empty response that lacks
 * {@code Connection: close}, which HTTP demands (RFC 9112, section 9.6), the platform may keep the connection for the next request.
 *
 * <p>A connection that was kept may be closed by the server at any time, and the platform then sends a request a second time;
 * evidence must arrive once. A GET without an answer may be sent again by the platform, a request with a body is not. Plain
 * {@code http} goes to no proxy.
 */
public final class UrlConnectionTransport implements Transport, Closeable {
    private static final long CLOSING_PAUSE_MILLIS = 100;

    /** It finds requests that are late: the limit of a socket begins again with each byte. */
    private final ScheduledThreadPoolExecutor watchdog;
    /**
     * They end what is late, a thread for each request. The platform closes a body only between two reads of it: one read may take
     * long, and reads that follow each other closely may leave no time between them.
     */
    private final ExecutorService closers;

    /** Makes a transport; its threads begin when there is work and end a minute after it. */
    public UrlConnectionTransport() {
        ThreadFactory threads = work -> {
            Thread thread = new Thread(work, "assay-app-check-watchdog");
            thread.setDaemon(true);
            return thread;
        };
        closers = Executors.newCachedThreadPool(threads);
        watchdog = new ScheduledThreadPoolExecutor(1, threads);
        watchdog.setRemoveOnCancelPolicy(true);
        watchdog.setKeepAliveTime(1, TimeUnit.MINUTES);
        watchdog.allowCoreThreadTimeOut(true);
    }

    @Override
    public HttpResponse send(HttpRequest request) throws IOException {
        URL url = new URL(request.url());
        boolean isSecure = url.getProtocol().equals("https");
        URLConnection opened = isSecure ? url.openConnection() : url.openConnection(Proxy.NO_PROXY);
        if (!(opened instanceof HttpURLConnection)) throw new IOException("the URL is not one of HTTP");
        HttpURLConnection connection = (HttpURLConnection) opened;
        CountDownLatch end = new CountDownLatch(1);
        AtomicBoolean isLate = new AtomicBoolean();
        Future<?> limit = watchdog.schedule(() -> {
            isLate.set(true);
            closers.execute(() -> close(connection, end));
        }, request.timeLimitMillis(), TimeUnit.MILLISECONDS);
        try {
            HttpResponse response = exchange(connection, request, isLate);
            throwIfLate(isLate);
            return response;
        } finally {
            limit.cancel(false);
            end.countDown();
            connection.disconnect();
        }
    }

    /** Again and again until the request ends: a connection that is not open yet has nothing to close. */
    private static void close(HttpURLConnection connection, CountDownLatch end) {
        try {
            do {
                connection.disconnect();
            } while (!end.await(CLOSING_PAUSE_MILLIS, TimeUnit.MILLISECONDS));
        } catch (InterruptedException closed) {
            Thread.currentThread().interrupt();
        }
    }

    private static void throwIfLate(AtomicBoolean isLate) throws SocketTimeoutException {
        if (isLate.get()) throw new SocketTimeoutException("the whole response took too long");
    }

    private static HttpResponse exchange(HttpURLConnection connection, HttpRequest request, AtomicBoolean isLate) throws IOException {
        connection.setConnectTimeout(request.timeLimitMillis());
        connection.setReadTimeout(request.timeLimitMillis());
        connection.setInstanceFollowRedirects(false);
        connection.setUseCaches(false);
        connection.setRequestMethod(request.method());
        connection.setRequestProperty("Connection", "close");
        // The platform's own default would unpack what is small into what is endless.
        connection.setRequestProperty("Accept-Encoding", "identity");
        for (String name : request.headerNames()) connection.setRequestProperty(name, request.header(name));
        byte[] body = request.body();
        boolean hasBody = body.length > 0 || request.method().equals("POST");
        if (hasBody) {
            // A body of a known length is not sent again behind our back.
            connection.setFixedLengthStreamingMode(body.length);
            connection.setDoOutput(true);
            try (OutputStream output = connection.getOutputStream()) {
                output.write(body);
            }
        }
        int status;
        try {
            status = connection.getResponseCode();
        } catch (HttpRetryException unauthorized) {
            // What the platform says of a 401 to a body that it cannot send again. The fields are there, the content is not.
            return new HttpResponse(unauthorized.responseCode(), headers(connection), new byte[0]);
        }
        if (status < 100) throw new IOException("the response is not one of HTTP");
        return new HttpResponse(status, headers(connection), content(connection, status, request.responseLimit(), isLate));
    }

    private static byte[] content(HttpURLConnection connection, int status, int limit, AtomicBoolean isLate) throws IOException {
        ByteArrayOutputStream content = new ByteArrayOutputStream();
        InputStream input = status >= 400 ? connection.getErrorStream() : connection.getInputStream();
        if (input == null) return new byte[0];
        byte[] buffer = new byte[8192];
        int count;
        while ((count = input.read(buffer)) >= 0) {
            content.write(buffer, 0, count);
            if (content.size() > limit) throw new ResponseTooLongException(limit);
            throwIfLate(isLate);
        }
        return content.toByteArray();
    }

    private static Map<String, String> headers(HttpURLConnection connection) {
        Map<String, String> headers = new HashMap<>();
        for (Map.Entry<String, List<String>> field : connection.getHeaderFields().entrySet()) {
            // The first line has no name.
            if (field.getKey() != null) headers.put(field.getKey(), Texts.join(", ", field.getValue()));
        }
        return headers;
    }

    /** Ends the transport's threads; requests that are under way are no longer limited by them. */
    @Override
    public void close() {
        watchdog.shutdownNow();
        closers.shutdownNow();
    }
}
