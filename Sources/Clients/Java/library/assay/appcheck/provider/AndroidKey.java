package assay.appcheck.provider;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import assay.appcheck.AppCheckException;
import assay.appcheck.AppCheckException.Code;
import assay.appcheck.calls.RequestProof;
import assay.appcheck.storage.BoundStorage;
import assay.appcheck.wire.Bytes;
import assay.appcheck.wire.Limits;

/**
 * Attests a key of the device once, and asserts by it for each token: Android key attestation, without Google's services.
 *
 * <p>The alias of the key and the server's artifact are kept together. Where either is lost or refused, a new key is made and
 * attested, once for each token. After an update of the system a new key is attested too, because the certificate of the old one
 * tells the old security level; if the device cannot do that now, the old key still serves.
 */
public final class AndroidKey implements TokenProvider, RequestProver {
    private static final String CHALLENGE = "generateAndroidKeyChallenge";
    /** How many counters are stored as used at once: not each assertion shall wait for the storage. */
    private static final int RESERVE = 16;

    private final KeyAttestor attestor;
    private final String packageName;
    /** The next counter and the end of the stored ones, by the identifier of the key. */
    private final Map<String, long[]> counters = new HashMap<>();

    /**
     * Makes a provider.
     *
     * @param packageName the app's package, which assertions are made for: {@code Context.getPackageName()}
     */
    public AndroidKey(KeyAttestor attestor, String packageName) {
        this.attestor = attestor;
        this.packageName = packageName;
    }

    /** The key that is stored is of no use any more. */
    private static final class KeyLost extends Exception {
        private static final long serialVersionUID = 1;

        final AppCheckException error;

        KeyLost(AppCheckException error) {
            super(error);
            this.error = error;
        }
    }

    @Override
    public IssuedToken fetch(TokenRequest request) throws AppCheckException {
        AttestedKey key = AttestedKey.load(request.storage());
        if (key == null) return attest(request, null);
        if (!key.deviceState.equals(attestor.deviceState())) {
            try {
                return attest(request, key);
            } catch (AppCheckException error) {
                if (error.code() != Code.DEVICE_FAILED) throw error;
                request.note("The system was updated, and no new key could be attested: the old one is used. " + error.getMessage());
            }
        }
        try {
            return assertKey(request, key);
        } catch (KeyLost lost) {
            // Also when the new attestation fails: then the next call begins with one, and makes one key and not two.
            AttestedKey.remove(request.storage());
            request.note("A new key is attested. " + lost.error.getMessage());
            return attest(request, key);
        }
    }

    private IssuedToken attest(TokenRequest request, AttestedKey former) throws AppCheckException {
        byte[] challenge = request.service().challenge(CHALLENGE);
        String base = "assay-app-check-" + request.storage().key("alias").substring(0, 16);
        // The former key serves until the new one is attested.
        String alias = former != null && former.alias.equals(base + "-a") ? base + "-b" : base + "-a";
        String state = attestor.deviceState();
        List<byte[]> chain;
        String identifier;
        try {
            chain = attestor.generate(alias, challenge);
            if (chain.isEmpty()) throw new KeyAttestorException(KeyAttestorException.Kind.UNSUPPORTED, null);
            identifier = KeyAssertion.identifier(chain.get(0));
        } catch (KeyAttestorException failure) {
            throw failure(failure, "make an attested key");
        }
        Map<String, Object> body = new LinkedHashMap<>();
        body.put("attestationChain", chain);
        body.put("challenge", challenge);
        body.put("limitedUse", request.isLimitedUse());
        ServiceReply reply = request.service().call("exchangeAndroidKeyAttestation", body);
        byte[] artifact = reply.bytes("artifact");
        if (artifact == null || artifact.length == 0 || artifact.length > Limits.ARTIFACT) {
            throw reply.malformed("`artifact` is not Base 64 of 1 to " + Limits.ARTIFACT + " bytes");
        }
        IssuedToken token = reply.token("appCheckToken");
        synchronized (this) {
            new AttestedKey(alias, identifier, artifact, state, 1).save(request.storage());
        }
        if (former != null && !former.alias.equals(alias)) attestor.delete(former.alias);
        return token;
    }

    private IssuedToken assertKey(TokenRequest request, AttestedKey key) throws AppCheckException, KeyLost {
        byte[] challenge = request.service().challenge(CHALLENGE);
        byte[] signed = Bytes.join(key.artifact, challenge);
        if (RequestProof.isBegunBy(signed)) {
            throw new KeyLost(new AppCheckException(
                Code.MALFORMED_REPLY,
                "The server wants a signature that would prove a request. Somebody else may answer in its place."));
        }
        Map<String, Object> body = new LinkedHashMap<>();
        body.put("artifact", key.artifact);
        body.put("challenge", challenge);
        try {
            body.put("assertion", sign(Bytes.sha256(signed), key, request.storage()));
        } catch (KeyAttestorException failure) {
            AppCheckException error = failure(failure, "sign with its key");
            if (failure.kind() == KeyAttestorException.Kind.TEMPORARY) throw error;
            throw new KeyLost(error);
        }
        try {
            return request.service().exchange("exchangeAndroidKeyAssertion", body, request.isLimitedUse());
        } catch (AppCheckException error) {
            // Refused, or an artifact that the server cannot read: only a new attestation leads on.
            boolean isRejected = error.code() == Code.REJECTED && error.status() == 400;
            if (error.code() != Code.REFUSED && !isRejected) throw error;
            throw new KeyLost(error);
        }
    }

    @Override
    public byte[] assertion(byte[] clientDataHash, String keyId, BoundStorage storage) throws AppCheckException {
        AttestedKey key = AttestedKey.load(storage);
        if (key == null || !key.identifier.equals(keyId)) return null;
        try {
            return sign(clientDataHash, key, storage);
        } catch (KeyAttestorException failure) {
            if (failure.kind() == KeyAttestorException.Kind.TEMPORARY) throw failure(failure, "sign a request");
            return null;
        }
    }

    private byte[] sign(byte[] clientDataHash, AttestedKey key, BoundStorage storage) throws KeyAttestorException {
        byte[] data = KeyAssertion.authenticatorData(packageName, nextCounter(key, storage));
        byte[] signature = attestor.sign(key.alias, Bytes.sha256(data, clientDataHash));
        return KeyAssertion.encode(signature, data);
    }

    /** A counter that was never used: it is stored before it is used, so that it is not used again after a crash. */
    private synchronized long nextCounter(AttestedKey key, BoundStorage storage) throws KeyAttestorException {
        long[] span = counters.computeIfAbsent(key.identifier, identifier -> new long[2]);
        if (span[0] == span[1]) {
            AttestedKey current = AttestedKey.load(storage);
            // Another one was attested meanwhile, or this one is worn.
            if (current == null || !current.identifier.equals(key.identifier) || current.counter > AttestedKey.COUNTER_LIMIT) {
                throw new KeyAttestorException(KeyAttestorException.Kind.KEY_LOST, null);
            }
            span[0] = current.counter;
            span[1] = Math.min(span[0] + RESERVE, AttestedKey.COUNTER_LIMIT + 1);
            current.withCounter(span[1]).save(storage);
        }
        return span[0]++;
    }

    private static AppCheckException failure(KeyAttestorException failure, String action) {
        if (failure.kind() == KeyAttestorException.Kind.UNSUPPORTED) {
            return new AppCheckException(
                Code.UNSUPPORTED_DEVICE, "This device cannot attest keys. Use debug tokens while you develop.", failure);
        }
        return new AppCheckException(Code.DEVICE_FAILED, "The device could not " + action + ".", failure);
    }
}
