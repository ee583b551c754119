package assay.appcheck.wire;

/** What the library reads at most. */
public final class Limits {
    /** The bytes of a reply of the server, and of a stored value. */
    public static final int REPLY = 65_536;
    /** The characters of a token. */
    public static final int TOKEN = 16_384;
    /** The bytes of a challenge. */
    public static final int CHALLENGE = 4096;
    /** The bytes of an artifact. */
    public static final int ARTIFACT = 16_384;
    /** The longest lifetime of a token, in milliseconds: 7 days. */
    public static final long LIFETIME_MILLIS = 7L * 86_400_000;

    private Limits() {}
}
