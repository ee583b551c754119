package assay.appcheck.wire;

import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** What a token says of itself; its signature is for those who receive it. */
public final class TokenClaims {
    private static final Pattern JWT = Pattern.compile("[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+");
    private static final long LATEST = 1L << 40;

    private final Map<String, Object> claims;

    private TokenClaims(Map<String, Object> claims) {
        this.claims = claims;
    }

    /** Null for what is no JWT of at most {@link Limits#TOKEN} characters. */
    public static TokenClaims read(String token) {
        if (token.length() > Limits.TOKEN || !JWT.matcher(token).matches()) return null;
        byte[] payload = Base64Text.decode(token.substring(token.indexOf('.') + 1, token.lastIndexOf('.')));
        Map<String, Object> claims = payload == null ? null : Json.readObject(payload);
        return claims == null ? null : new TokenClaims(claims);
    }

    /** Whether the token is one of an app, so that a wrong address or a mixed-up cache is found at once. */
    public boolean isOf(AppName app) {
        if (!app.id.equals(Json.text(claims, "sub"))) return false;
        if (app.project == null) return true;
        String audience = "projects/" + app.project;
        List<Object> several = Json.list(claims.get("aud"));
        return several == null ? audience.equals(claims.get("aud")) : several.contains(audience);
    }

    /** When it was issued, in seconds since 1970 by the server's clock; null when it does not say so. */
    public Long issued() {
        Long issued = Json.whole(claims, "iat");
        return issued != null && issued >= 0 && issued < LATEST ? issued : null;
    }

    /** How long it lasts by its own words, {@code exp} less {@code iat}, in milliseconds; null when it does not say so. */
    public Long lifetimeMillis() {
        Long end = Json.whole(claims, "exp");
        return issued() == null || end == null || Math.abs(end) >= LATEST ? null : (Long) ((end - issued()) * 1000);
    }

    /** The key that it names in {@code cnf}: SHA-256 of {@code 04 ‖ X ‖ Y}, in Base 64; null when it names none. */
    public String keyId() {
        Map<String, Object> confirmation = Json.object(claims.get("cnf"));
        Map<String, Object> jwk = confirmation == null ? null : Json.object(confirmation.get("jwk"));
        byte[] x = Json.bytes(jwk, "x");
        byte[] y = Json.bytes(jwk, "y");
        if (x == null || y == null || x.length != 32 || y.length != 32) return null;
        return Base64Text.encode(Bytes.sha256(new byte[] {4}, x, y));
    }
}
