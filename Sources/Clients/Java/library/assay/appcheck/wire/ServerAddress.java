package assay.appcheck.wire;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Where a server is: {@code https://host[:port][/path][?query]}. */
public final class ServerAddress {
    private static final int LIMIT = 8192;
    // Visible ASCII in the path and the query, except the mark of a fragment.
    private static final Pattern FORM = Pattern.compile(
        "(https?)://(\\[[0-9A-Fa-f:.]{2,45}\\]|[A-Za-z0-9][A-Za-z0-9._-]{0,252})(?::([0-9]{1,5}))?"
            + "((?:[/?][\\x21-\\x7E&&[^#]]*)?)");

    /** The whole URL. */
    public final String text;
    /** Whether it is {@code https}. */
    public final boolean isSecure;
    /** In lower case; an IPv6 address with its brackets. */
    public final String host;
    /** The port, also where the URL has none. */
    public final int port;
    /** The path and the query as they are sent; a slash for nothing. */
    public final String target;

    private ServerAddress(Matcher parts) {
        text = parts.group();
        isSecure = parts.group(1).equals("https");
        host = parts.group(2).toLowerCase(Locale.ROOT);
        port = parts.group(3) == null ? isSecure ? 443 : 80 : Integer.parseInt(parts.group(3));
        String rest = parts.group(4);
        target = rest.startsWith("/") ? rest : "/" + rest;
    }

    /** Null for a URL of another form: with a user, a fragment, or characters beyond printable ASCII. */
    public static ServerAddress read(String text) {
        if (text.length() > LIMIT) return null;
        Matcher parts = FORM.matcher(text);
        if (!parts.matches()) return null;
        ServerAddress address = new ServerAddress(parts);
        return address.port >= 1 && address.port <= 65_535 ? address : null;
    }

    /** Whether the host is spelt as this machine; no name is resolved. */
    public boolean isLoopback() {
        return host.equals("localhost") || host.equals("127.0.0.1") || host.equals("[::1]");
    }

    /** Whether a token may be sent there: by TLS, or without a network. */
    public boolean isProtected() {
        return isSecure || isLoopback();
    }

    /** The host, with the port where it is not the scheme's own (RFC 9421, section 2.2.3). */
    public String authority() {
        return port == (isSecure ? 443 : 80) ? host : host + ":" + port;
    }

    /** The scheme with the authority, as a browser compares origins. */
    public String origin() {
        return (isSecure ? "https://" : "http://") + authority();
    }

    /** The service below this URL, without the version that App Check's own SDKs are given; null with a query. */
    public ServerAddress service() {
        return text.contains("?") ? null : read(text.replaceFirst("/$", "").replaceFirst("/v1(beta)?$", ""));
    }
}
