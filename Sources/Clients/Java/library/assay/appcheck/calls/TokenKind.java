package assay.appcheck.calls;

import assay.appcheck.AppCheckException;
import assay.appcheck.AppCheckToken;
import assay.appcheck.AssayAppCheck;

/** What is sent with each request. */
public enum TokenKind {
    /** The session token that all requests share. */
    SESSION,
    /** A token of its own for each request, for backends that accept a token once. */
    LIMITED_USE;

    /** A token of this kind; see {@link AssayAppCheck#awaitToken(boolean)}. */
    public AppCheckToken await(AssayAppCheck appCheck, boolean forceRefresh) throws AppCheckException, InterruptedException {
        return this == SESSION ? appCheck.awaitToken(forceRefresh) : appCheck.awaitLimitedUseToken();
    }

    /** A token in place of one that a backend refused; null when another one would be of no use. */
    public AppCheckToken awaitAfter(AssayAppCheck appCheck, String refused) throws AppCheckException, InterruptedException {
        return this == SESSION ? appCheck.awaitTokenAfter(refused) : appCheck.awaitLimitedUseToken();
    }
}
