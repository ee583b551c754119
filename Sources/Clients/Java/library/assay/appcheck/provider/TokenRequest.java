package assay.appcheck.provider;

import java.util.function.Consumer;

import assay.appcheck.storage.BoundStorage;

/** What a provider is asked for, and what it may use. */
public final class TokenRequest {
    private final boolean isLimitedUse;
    private final AppCheckService service;
    private final BoundStorage storage;
    private final Consumer<String> notice;

    /** Makes a request, for tests of a provider. */
    public TokenRequest(boolean isLimitedUse, AppCheckService service, BoundStorage storage, Consumer<String> notice) {
        this.isLimitedUse = isLimitedUse;
        this.service = service;
        this.storage = storage;
        this.notice = notice;
    }

    /** Whether the token is for one use. */
    public boolean isLimitedUse() {
        return isLimitedUse;
    }

    /** The methods of the server. */
    public AppCheckService service() {
        return service;
    }

    /** What is kept for this app at this server. */
    public BoundStorage storage() {
        return storage;
    }

    /** Tells a developer a sentence. */
    public void note(String sentence) {
        notice.accept(sentence);
    }
}
