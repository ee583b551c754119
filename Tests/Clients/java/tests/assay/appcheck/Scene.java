package assay.appcheck;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import assay.appcheck.provider.DebugTokens;
import assay.appcheck.provider.TokenProvider;
import assay.appcheck.storage.MemoryStorage;
import assay.appcheck.transport.HttpRequest;
import assay.appcheck.transport.HttpResponse;
import assay.appcheck.transport.Transport;
import assay.appcheck.transport.UrlConnectionTransport;

/** An app at a server, whose requests are counted and whose clock a test sets. */
final class Scene implements Transport, Closeable {
    final TestClock clock = new TestClock();
    final AtomicInteger requests = new AtomicInteger();
    final List<String> methods = Collections.synchronizedList(new ArrayList<>());
    final List<String> notices = Collections.synchronizedList(new ArrayList<>());
    final MemoryStorage storage;
    final UrlConnectionTransport transport = new UrlConnectionTransport();
    final AssayAppCheck check;
    volatile long takes;

    Scene(String address) {
        this(address, new DebugTokens("0B7C5A5E-3F0E-4C5D-9E0F-6A1B2C3D4E5F"));
    }

    Scene(String address, TokenProvider provider) {
        this(address, ScriptedServer.APP, provider, new MemoryStorage(), 5000, 20_000);
    }

    Scene(String address, TokenProvider provider, MemoryStorage storage) {
        this(address, ScriptedServer.APP, provider, storage, 5000, 20_000);
    }

    Scene(String address, String app, TokenProvider provider, MemoryStorage storage, int requestMillis, long fetchMillis) {
        this.storage = storage;
        check = new AssayAppCheck(app, address, provider, AppCheckOptions.standard().withTransport(this).withStorage(storage)
            .withClock(clock).withNotice(notices::add).withLimits(requestMillis, fetchMillis));
    }

    @Override
    public HttpResponse send(HttpRequest request) throws IOException {
        requests.incrementAndGet();
        methods.add(request.url().substring(request.url().lastIndexOf(':') + 1));
        HttpResponse response = transport.send(request);
        clock.millis += takes;
        return response;
    }

    AppCheckToken token() throws Exception {
        return check.awaitToken(false);
    }

    long count(String method) {
        synchronized (methods) {
            return methods.stream().filter(method::equals).count();
        }
    }

    @Override
    public void close() {
        check.close();
        transport.close();
    }
}
