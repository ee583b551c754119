package assay.appcheck.wire;

/** What a server says, made fit for a log: at most 300 characters, none of which moves a cursor. */
public final class ShownText {
    private static final int LIMIT = 300;

    private ShownText() {}

    /** The text, shortened; characters that are not shown become question marks. */
    public static String of(String text) {
        StringBuilder shown = new StringBuilder();
        for (int index = 0, count = 0; index < text.length() && count < LIMIT; count++) {
            int point = text.codePointAt(index);
            index += Character.charCount(point);
            shown.appendCodePoint(isShown(point) ? point : '?');
        }
        return shown.toString();
    }

    private static boolean isShown(int point) {
        switch (Character.getType(point)) {
            case Character.CONTROL: case Character.FORMAT: case Character.LINE_SEPARATOR: case Character.PARAGRAPH_SEPARATOR:
            case Character.PRIVATE_USE: case Character.SURROGATE: case Character.UNASSIGNED:
                return false;
            default:
                return true;
        }
    }
}
