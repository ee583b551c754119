package assay.appcheck;

/** Is told of session tokens and errors as they come, in their order, by one thread at a time of its executor. */
public interface TokenListener {
    /** There is a new session token. */
    void onTokenChanged(AppCheckToken token);

    /** A session token could not be fetched; the library tries again by itself. */
    default void onFailure(AppCheckException error) {}
}
