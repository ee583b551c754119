package assay.appcheck.wire;

/** Texts, joined: {@code String.join} is missing before Android 8. */
public final class Texts {
    private Texts() {}

    /** The parts with a separator between each two. */
    public static String join(String separator, Iterable<String> parts) {
        StringBuilder joined = new StringBuilder();
        String before = "";
        for (String part : parts) {
            joined.append(before).append(part);
            before = separator;
        }
        return joined.toString();
    }
}
