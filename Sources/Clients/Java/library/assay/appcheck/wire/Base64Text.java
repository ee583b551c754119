package assay.appcheck.wire;

import java.util.Arrays;

/** Base 64 (RFC 4648); {@code java.util.Base64} is missing before Android 8. */
public final class Base64Text {
    private static final String ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    private static final int[] VALUES = new int[128];

    static {
        Arrays.fill(VALUES, -1);
        for (int value = 0; value < 64; value++) VALUES[ALPHABET.charAt(value)] = value;
        VALUES['-'] = 62;
        VALUES['_'] = 63;
    }

    private Base64Text() {}

    /** The standard alphabet, padded. */
    public static String encode(byte[] bytes) {
        StringBuilder text = new StringBuilder((bytes.length + 2) / 3 * 4);
        for (int index = 0; index < bytes.length; index += 3) {
            int count = Math.min(3, bytes.length - index);
            int bits = 0;
            for (int part = 0; part < 3; part++) bits = bits << 8 | (part < count ? bytes[index + part] & 0xFF : 0);
            for (int digit = 0; digit < 4; digit++) {
                text.append(digit <= count ? ALPHABET.charAt(bits >> (18 - 6 * digit) & 63) : '=');
            }
        }
        return text.toString();
    }

    /** Reads either alphabet, padded or not; null for any other text, also for one whose unused bits are not zero. */
    public static byte[] decode(String text) {
        int length = text.length();
        if (length % 4 == 0) {
            for (int padding = 0; padding < 2 && length > 0 && text.charAt(length - 1) == '='; padding++) length--;
        }
        if (length % 4 == 1) return null;
        byte[] bytes = new byte[(int) (length * 3L / 4)];
        int bits = 0;
        int held = 0;
        int count = 0;
        for (int index = 0; index < length; index++) {
            char digit = text.charAt(index);
            int value = digit < 128 ? VALUES[digit] : -1;
            if (value < 0) return null;
            bits = bits << 6 | value;
            held += 6;
            if (held >= 8) {
                held -= 8;
                bytes[count++] = (byte) (bits >> held);
                bits &= (1 << held) - 1;
            }
        }
        return bits == 0 ? bytes : null;
    }
}
