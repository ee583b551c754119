package assay.appcheck.wire;

import java.text.ParsePosition;
import java.text.SimpleDateFormat;
import java.util.Date;
import java.util.Locale;
import java.util.TimeZone;

/** The dates of HTTP (RFC 9110, section 5.6.7), in the one form that servers send. */
public final class HttpDate {
    private static final int LENGTH = "Sun, 06 Nov 1994 08:49:37 GMT".length();

    private HttpDate() {}

    /** Milliseconds since 1970; null for other text. */
    public static Long millis(String text) {
        if (text == null || text.length() != LENGTH) return null;
        SimpleDateFormat format = new SimpleDateFormat("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.US);
        format.setTimeZone(TimeZone.getTimeZone("GMT"));
        format.setLenient(false);
        ParsePosition position = new ParsePosition(0);
        Date date = format.parse(text, position);
        return date == null || position.getIndex() != LENGTH ? null : date.getTime();
    }
}
