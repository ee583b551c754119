package okio;

import java.io.IOException;

/** What the tests use of Okio's interface. */
public interface BufferedSink {
    BufferedSink write(byte[] source) throws IOException;
}
