package assay.appcheck.provider;

import java.io.ByteArrayInputStream;
import java.math.BigInteger;
import java.security.PublicKey;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.interfaces.ECPublicKey;

import assay.appcheck.wire.Base64Text;
import assay.appcheck.wire.Bytes;

/** The bytes of an assertion, as App Attest has them. */
final class KeyAssertion {
    private KeyAssertion() {}

    /** SHA-256 of the package's name, no flags, and the counter: 37 bytes. */
    static byte[] authenticatorData(String packageName, long counter) {
        byte[] tail = {0, (byte) (counter >> 24), (byte) (counter >> 16), (byte) (counter >> 8), (byte) counter};
        return Bytes.join(Bytes.sha256(Bytes.utf8(packageName)), tail);
    }

    /** A map of {@code signature} and {@code authenticatorData} in CBOR (RFC 8949). */
    static byte[] encode(byte[] signature, byte[] authenticatorData) {
        return Bytes.join(
            new byte[] {(byte) 0xA2}, string(0x60, Bytes.utf8("signature")), string(0x40, signature),
            string(0x60, Bytes.utf8("authenticatorData")), string(0x40, authenticatorData));
    }

    private static byte[] string(int kind, byte[] content) {
        int length = content.length;
        byte[] head = length < 24 ? new byte[] {(byte) (kind | length)}
            : length < 256 ? new byte[] {(byte) (kind | 24), (byte) length}
            : new byte[] {(byte) (kind | 25), (byte) (length >> 8), (byte) length};
        return Bytes.join(head, content);
    }

    /** What tokens name the key of a certificate by: SHA-256 of {@code 04 ‖ X ‖ Y}, in Base 64. */
    static String identifier(byte[] certificate) throws KeyAttestorException {
        try {
            PublicKey key = CertificateFactory.getInstance("X.509")
                .generateCertificate(new ByteArrayInputStream(certificate)).getPublicKey();
            if (!(key instanceof ECPublicKey)) throw new CertificateException("the key is not one of ECDSA");
            ECPublicKey point = (ECPublicKey) key;
            return Base64Text.encode(Bytes.sha256(
                new byte[] {4}, coordinate(point.getW().getAffineX()), coordinate(point.getW().getAffineY())));
        } catch (CertificateException unreadable) {
            throw new KeyAttestorException(KeyAttestorException.Kind.FAILED, unreadable);
        }
    }

    private static byte[] coordinate(BigInteger number) {
        byte[] bytes = number.toByteArray();
        byte[] padded = new byte[32];
        int count = Math.min(bytes.length, padded.length);
        System.arraycopy(bytes, bytes.length - count, padded, padded.length - count, count);
        return padded;
    }
}
