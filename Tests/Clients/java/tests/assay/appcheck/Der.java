package assay.appcheck;

import java.math.BigInteger;

import assay.appcheck.wire.Bytes;

/** Writes DER. */
final class Der {
    private Der() {}

    static byte[] value(int tag, byte[]... parts) {
        return Bytes.join(new byte[] {(byte) tag}, length(Bytes.join(parts).length), Bytes.join(parts));
    }

    private static byte[] length(int length) {
        if (length < 0x80) return new byte[] {(byte) length};
        return length < 0x100 ? new byte[] {(byte) 0x81, (byte) length} : new byte[] {(byte) 0x82, (byte) (length >> 8), (byte) length};
    }

    static byte[] sequence(byte[]... parts) {
        return value(0x30, parts);
    }

    static byte[] set(byte[]... parts) {
        return value(0x31, parts);
    }

    static byte[] integer(long number) {
        return value(0x02, BigInteger.valueOf(number).toByteArray());
    }

    static byte[] enumerated(int number) {
        return value(0x0A, new byte[] {(byte) number});
    }

    static byte[] octets(byte[] bytes) {
        return value(0x04, bytes);
    }

    static byte[] bool(boolean value) {
        return value(0x01, new byte[] {(byte) (value ? 0xFF : 0)});
    }

    static byte[] bits(byte[] bytes) {
        return value(0x03, new byte[] {0}, bytes);
    }

    /** The identifier's content in hexadecimal. */
    static byte[] identifier(String hex) {
        byte[] content = new byte[hex.length() / 2];
        for (int index = 0; index < content.length; index++) content[index] = (byte) Integer.parseInt(hex.substring(2 * index, 2 * index + 2), 16);
        return value(0x06, content);
    }

    /** A value with an explicit tag of its context. */
    static byte[] context(int tag, byte[] value) {
        byte[] number = tag < 31 ? new byte[] {(byte) (0xA0 | tag)}
            : tag < 128 ? new byte[] {(byte) 0xBF, (byte) tag} : new byte[] {(byte) 0xBF, (byte) (0x80 | tag >> 7), (byte) (tag & 0x7F)};
        return Bytes.join(number, length(value.length), value);
    }
}
