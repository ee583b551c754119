package assay.appcheck;

/**
 * The reason why there is no token, and what to do about it.
 *
 * <p>Compare {@link #code()}. The message is for a log: it has no token, no key and no evidence.
 */
public final class AppCheckException extends Exception {
    private static final long serialVersionUID = 1;

    /** The kinds of errors. New versions may add kinds: handle the others by {@link AppCheckException#isTransient()}. */
    public enum Code {
        /** No connection, no whole answer in time, or a failed TLS handshake. */
        UNREACHABLE(true, false),
        /** The provider did not finish in time. */
        TIMED_OUT(true, false),
        /** The server refused the evidence (403): an operator finds the reason by {@link AppCheckException#decision()}. */
        REFUSED(false, true),
        /** The server does not know the app, or has no such provider for it. */
        NOT_CONFIGURED(false, true),
        /** The server rejected the request as such, which another try does not mend. */
        REJECTED(false, true),
        /** The server asks for fewer requests (429). */
        THROTTLED(true, true),
        /** The server cannot decide now (5xx). */
        UNAVAILABLE(true, true),
        /** The server sends its callers elsewhere, which is not followed. */
        REDIRECTED(false, true),
        /** The reply is not what the method declares. */
        MALFORMED_REPLY(true, true),
        /** The token is of another app. */
        FOREIGN_TOKEN(false, true),
        /** The token had ended when it arrived. */
        EXPIRED_ON_ARRIVAL(true, false),
        /** The device cannot make this kind of evidence. */
        UNSUPPORTED_DEVICE(false, true),
        /** The device failed to make evidence. */
        DEVICE_FAILED(true, true),
        /** A provider, or a function of the app, failed; see {@link Throwable#getCause()}. */
        PROVIDER_FAILED(true, false),
        /** The device has another key than the token names: a new token mends it. */
        KEY_CHANGED(true, false),
        /** More callers wait than the library keeps. */
        TOO_MANY_CALLERS(true, false),
        /** A token would have left the device unprotected, or in a URL. */
        INSECURE(false, false),
        /** The {@link AssayAppCheck} is closed. */
        CLOSED(false, false);

        private final boolean isTransient;
        final boolean growsPause;

        Code(boolean isTransient, boolean growsPause) {
            this.isTransient = isTransient;
            this.growsPause = growsPause;
        }
    }

    private final Code code;
    private final String reason;
    private final Integer status;
    private final String decision;
    private final Long retryAfterMillis;

    /** Makes an error, as a provider of the app's own may throw it. */
    public AppCheckException(Code code, String reason) {
        this(code, reason, null, null, null, null);
    }

    /** Makes an error with its cause. */
    public AppCheckException(Code code, String reason, Throwable cause) {
        this(code, reason, null, null, null, cause);
    }

    /**
     * Makes an error with all that may be known.
     *
     * @param status of the server's reply, or null
     * @param decision by which an operator finds the reason, or null
     * @param retryAfterMillis how long the library shall not ask the provider again, or null
     */
    public AppCheckException(
        Code code, String reason, Integer status, String decision, Long retryAfterMillis, Throwable cause) {
        super(text(code, reason, status, decision, retryAfterMillis), cause);
        this.code = code;
        this.reason = reason;
        this.status = status;
        this.decision = decision;
        this.retryAfterMillis = retryAfterMillis;
    }

    /** The kind of the error. */
    public Code code() {
        return code;
    }

    /** The status of the server's reply; null when there was none. */
    public Integer status() {
        return status;
    }

    /** The identifier under which the server's operator finds the reason; null when no server decided. */
    public String decision() {
        return decision;
    }

    /** How many milliseconds nothing is sent for this app; null when the next call is sent. */
    public Long retryAfterMillis() {
        return retryAfterMillis;
    }

    /** Whether a later try can succeed without a change of the app, the device or the server's policy. */
    public boolean isTransient() {
        return code.isTransient;
    }

    /** What happened and what to do, without the rest of the message. */
    String reason() {
        return reason;
    }

    AppCheckException withRetryAfter(long millis) {
        AppCheckException copy = new AppCheckException(code, reason, status, decision, millis, getCause());
        copy.setStackTrace(getStackTrace());
        return copy;
    }

    private static String text(Code code, String reason, Integer status, String decision, Long retryAfterMillis) {
        StringBuilder text = new StringBuilder(code.name()).append(": ").append(reason);
        if (status != null) text.append(" Status ").append(status).append('.');
        if (decision != null) text.append(" Decision ").append(decision).append('.');
        if (retryAfterMillis != null) text.append(" Nothing is sent for ").append(retryAfterMillis).append(" ms.");
        return text.toString();
    }
}
