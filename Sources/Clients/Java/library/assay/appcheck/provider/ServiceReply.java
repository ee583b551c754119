package assay.appcheck.provider;

import java.math.BigDecimal;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import assay.appcheck.AppCheckException;
import assay.appcheck.AppCheckException.Code;
import assay.appcheck.wire.Json;
import assay.appcheck.wire.TokenClaims;

/** The reply of a method. */
public final class ServiceReply {
    /** Decimal seconds with at most nine places and an {@code s}, as protobuf writes durations. */
    private static final Pattern DURATION = Pattern.compile("([0-9]{1,9}(?:\\.[0-9]{1,9})?)s");

    private final String method;
    private final long start;
    private final Map<String, Object> members;

    ServiceReply(String method, long start, Map<String, Object> members) {
        this.method = method;
        this.start = start;
        this.members = members;
    }

    /** A field with text; null without one. */
    public String text(String field) {
        return Json.text(members, field);
    }

    /** A field with bytes in Base 64; null without one. */
    public byte[] bytes(String field) {
        return Json.bytes(members, field);
    }

    /**
     * The token, in the fields {@code token} and {@code ttl} of the reply itself, or of one of its fields.
     *
     * @param field the name of that field; null for the reply itself
     * @throws AppCheckException with {@code MALFORMED_REPLY}
     */
    public IssuedToken token(String field) throws AppCheckException {
        Map<String, Object> holder = field == null ? members : Json.object(members.get(field));
        String token = Json.text(holder, "token");
        if (token == null || TokenClaims.read(token) == null) throw malformed("`token` is missing, or no JWT of a bounded length");
        String ttl = Json.text(holder, "ttl");
        Matcher seconds = ttl == null ? null : DURATION.matcher(ttl);
        if (seconds == null || !seconds.matches()) throw malformed("`ttl` is missing, or no duration such as \"3600s\"");
        long lifetime = new BigDecimal(seconds.group(1)).movePointRight(3).longValue();
        return new IssuedToken(token, lifetime, start);
    }

    /** The error for a reply that is not what the method declares. */
    public AppCheckException malformed(String what) {
        return new AppCheckException(Code.MALFORMED_REPLY, "In the reply of " + method + " " + what + ".");
    }
}
