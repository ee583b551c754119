package assay.appcheck.provider;

import assay.appcheck.AppCheckException;
import assay.appcheck.storage.BoundStorage;

/** A provider that signs requests with the key of the device that its tokens name, such as {@link AndroidKey}. */
public interface RequestProver {
    /**
     * Signs a digest.
     *
     * @param clientDataHash SHA-256 of what is signed
     * @param keyId SHA-256 of the public key {@code 04 ‖ X ‖ Y}, in Base 64
     * @param storage what is kept for this app at this server
     * @return an assertion in CBOR, with {@code signature} and {@code authenticatorData}; null when the device does not have
     *     this key any more
     */
    byte[] assertion(byte[] clientDataHash, String keyId, BoundStorage storage) throws AppCheckException;
}
