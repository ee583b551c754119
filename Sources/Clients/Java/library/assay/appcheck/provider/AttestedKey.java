package assay.appcheck.provider;

import java.util.LinkedHashMap;
import java.util.Map;

import assay.appcheck.storage.BoundStorage;
import assay.appcheck.wire.Json;
import assay.appcheck.wire.JsonText;
import assay.appcheck.wire.Limits;

/** What is kept of an attested key. */
final class AttestedKey {
    static final long COUNTER_LIMIT = 0xFFFF_FFFFL;
    private static final String NAME = "android-key";

    final String alias;
    /** SHA-256 of the public key, in Base 64. */
    final String identifier;
    /** What the server gave for the attestation. */
    final byte[] artifact;
    /** What the device said of itself when the key was attested. */
    final String deviceState;
    /** No assertion with this counter or a higher one was made before it was stored. */
    final long counter;

    AttestedKey(String alias, String identifier, byte[] artifact, String deviceState, long counter) {
        this.alias = alias;
        this.identifier = identifier;
        this.artifact = artifact;
        this.deviceState = deviceState;
        this.counter = counter;
    }

    /** Null without a key, and for anything but what {@link #save} has made. */
    static AttestedKey load(BoundStorage storage) {
        byte[] stored = storage.load(NAME);
        Map<String, Object> members = stored == null ? null : Json.readObject(stored);
        Long version = Json.whole(members, "version");
        String alias = Json.text(members, "alias");
        String identifier = Json.text(members, "key");
        byte[] artifact = Json.bytes(members, "artifact");
        String state = Json.text(members, "device_state");
        Long counter = Json.whole(members, "counter");
        boolean isWhole = version != null && version == 1 && alias != null && identifier != null && artifact != null
            && artifact.length > 0 && artifact.length <= Limits.ARTIFACT && state != null && counter != null
            && counter > 0 && counter <= COUNTER_LIMIT + 1;
        return isWhole ? new AttestedKey(alias, identifier, artifact, state, counter) : null;
    }

    static void remove(BoundStorage storage) {
        storage.remove(NAME);
    }

    void save(BoundStorage storage) {
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("version", 1);
        members.put("alias", alias);
        members.put("key", identifier);
        members.put("artifact", artifact);
        members.put("device_state", deviceState);
        members.put("counter", counter);
        storage.save(NAME, JsonText.object(members));
    }

    AttestedKey withCounter(long counter) {
        return new AttestedKey(alias, identifier, artifact, deviceState, counter);
    }
}
