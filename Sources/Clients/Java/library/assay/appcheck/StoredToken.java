package assay.appcheck;

import java.util.LinkedHashMap;
import java.util.Map;

import assay.appcheck.wire.Json;
import assay.appcheck.wire.JsonText;
import assay.appcheck.wire.Limits;

/**
 * A session token in storage: the token, its times by the monotonic clock, and the start of the device that the clock counts
 * from.
 */
final class StoredToken {
    static final String NAME = "token";

    private StoredToken() {}

    static byte[] encode(AppCheckToken token, String boot) {
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("version", 1);
        members.put("boot", boot);
        members.put("token", token.text());
        members.put("requested", token.requested);
        members.put("received", token.received);
        members.put("expires", token.expires);
        return JsonText.object(members);
    }

    /** Null for anything else, for a token of another start of the device, and for one that has ended. */
    static AppCheckToken decode(byte[] bytes, String boot, long now) {
        Map<String, Object> members = Json.readObject(bytes);
        Long version = Json.whole(members, "version");
        String text = Json.text(members, "token");
        Long requested = Json.whole(members, "requested");
        Long received = Json.whole(members, "received");
        Long expires = Json.whole(members, "expires");
        if (version == null || version != 1 || !boot.equals(Json.text(members, "boot")) || text == null) return null;
        if (requested == null || received == null || expires == null) return null;
        boolean isInOrder = requested <= received && received <= now && now < expires;
        if (!isInOrder || expires - requested > Limits.LIFETIME_MILLIS) return null;
        return new AppCheckToken(text, requested, received, expires, false);
    }
}
