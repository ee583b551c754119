package okio;

import java.io.ByteArrayOutputStream;

/** What the library uses of Okio's class. */
public final class Buffer implements BufferedSink {
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    @Override
    public Buffer write(byte[] source) {
        bytes.write(source, 0, source.length);
        return this;
    }

    public byte[] readByteArray() {
        return bytes.toByteArray();
    }
}
