package assay.appcheck.provider;

import java.util.List;

/**
 * A key store whose keys are attested: {@code assay.appcheck.android.AndroidKeyStoreAttestor} on devices, one of software in
 * tests. The private half of a key never leaves it.
 */
public interface KeyAttestor {
    /**
     * Makes a key on P-256 that signs with ECDSA and SHA-256, in place of one with the same alias.
     *
     * @param challenge goes into the key's certificate
     * @return the certificates in DER, the key's own first
     */
    List<byte[]> generate(String alias, byte[] challenge) throws KeyAttestorException;

    /**
     * Signs a message by ECDSA with SHA-256.
     *
     * @return a DER {@code ECDSA-Sig-Value}
     */
    byte[] sign(String alias, byte[] message) throws KeyAttestorException;

    /** Removes a key, if there is one. */
    void delete(String alias);

    /** A text that changes when a new attestation would say something else, as after an update of the system. */
    default String deviceState() {
        return "";
    }
}
