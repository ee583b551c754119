package assay.appcheck.provider;

/** The reason why a device made no key, or no signature. */
public final class KeyAttestorException extends Exception {
    private static final long serialVersionUID = 1;

    /** The kinds of reasons. */
    public enum Kind {
        /** The device cannot attest keys. */
        UNSUPPORTED,
        /** The key is not there any more, or cannot be used: only a new one leads on. */
        KEY_LOST,
        /** The device cannot do it now, as when it has no attestation certificates left and no connection to get new ones. */
        TEMPORARY,
        /** Another error. */
        FAILED
    }

    private final Kind kind;

    /** @param cause the error of the system, or null */
    public KeyAttestorException(Kind kind, Throwable cause) {
        super(kind + (cause == null ? "" : ": " + cause), cause);
        this.kind = kind;
    }

    /** The kind of the reason. */
    public Kind kind() {
        return kind;
    }
}
