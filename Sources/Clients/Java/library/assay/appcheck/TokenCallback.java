package assay.appcheck;

/** Takes the answer to one call, once. */
public interface TokenCallback {
    /** There is a token. */
    void onToken(AppCheckToken token);

    /** There is none; the error says what to do. */
    void onFailure(AppCheckException error);
}
