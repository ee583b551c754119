package assay.appcheck.wire;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** Bytes: joined, hashed, compared. */
public final class Bytes {
    private Bytes() {}

    /** The parts one after the other. */
    public static byte[] join(byte[]... parts) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (byte[] part : parts) all.write(part, 0, part.length);
        return all.toByteArray();
    }

    /** SHA-256 of the parts one after the other: 32 bytes. */
    public static byte[] sha256(byte[]... parts) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            for (byte[] part : parts) digest.update(part);
            return digest.digest();
        } catch (NoSuchAlgorithmException missing) {
            throw new IllegalStateException("every Java has SHA-256", missing);
        }
    }

    /** A text in UTF-8. */
    public static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** Lower-case hexadecimal digits. */
    public static String hex(byte[] bytes) {
        StringBuilder text = new StringBuilder(bytes.length * 2);
        for (byte one : bytes) {
            text.append(Character.forDigit(one >> 4 & 15, 16)).append(Character.forDigit(one & 15, 16));
        }
        return text.toString();
    }

    /** Whether some bytes begin with others. */
    public static boolean startsWith(byte[] bytes, byte[] start) {
        if (bytes.length < start.length) return false;
        for (int index = 0; index < start.length; index++) {
            if (bytes[index] != start[index]) return false;
        }
        return true;
    }
}
