package assay.appcheck.wire;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The resource name of an app: {@code projects/PROJECT/apps/APP_ID}, or {@code oauthClients/CLIENT_ID}. */
public final class AppName {
    private static final String PART = "(?!\\.{1,2}(?:/|$))[A-Za-z0-9:._-]{1,256}";
    private static final Pattern FORM =
        Pattern.compile("projects/(" + PART + ")/apps/(" + PART + ")|oauthClients/(" + PART + ")");

    /** The whole name. */
    public final String text;
    /** The number or the identifier of the project; null for an OAuth client. */
    public final String project;
    /** What the claim {@code sub} of the app's tokens is. */
    public final String id;

    private AppName(Matcher parts) {
        text = parts.group();
        project = parts.group(1);
        id = project == null ? parts.group(3) : parts.group(2);
    }

    /** Null for other text. */
    public static AppName read(String text) {
        Matcher parts = FORM.matcher(text);
        return parts.matches() ? new AppName(parts) : null;
    }
}
