package assay.appcheck;

import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import assay.appcheck.wire.Base64Text;
import assay.appcheck.wire.Bytes;

/** A server over HTTP/1.1 that answers as a test says, one request for each connection. */
final class ScriptedServer implements Closeable {
    /** A request, and where the answer goes. */
    static final class Call {
        final String method;
        final String target;
        final Map<String, String> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        final String body;
        final OutputStream output;

        Call(InputStream input, OutputStream output) throws IOException {
            String[] first = line(input).split(" ");
            method = first[0];
            target = first[1];
            for (String field = line(input); !field.isEmpty(); field = line(input)) {
                headers.put(field.substring(0, field.indexOf(':')), field.substring(field.indexOf(':') + 1).trim());
            }
            byte[] content = new byte[Integer.parseInt(headers.getOrDefault("Content-Length", "0"))];
            for (int count = 0; count < content.length; ) count += input.read(content, count, content.length - count);
            body = new String(content, StandardCharsets.UTF_8);
            this.output = output;
        }

        private static String line(InputStream input) throws IOException {
            ByteArrayOutputStream line = new ByteArrayOutputStream();
            for (int next = input.read(); next != '\n'; next = input.read()) {
                if (next < 0) throw new IOException("the request ends early");
                if (next != '\r') line.write(next);
            }
            return line.toString("UTF-8");
        }

        void reply(int status, byte[] body, String... headers) throws IOException {
            StringBuilder head = new StringBuilder("HTTP/1.1 " + status + " Answer\r\nConnection: close\r\nContent-Length: " + body.length + "\r\n");
            for (String header : headers) head.append(header).append("\r\n");
            output.write(Bytes.join(Bytes.utf8(head + "\r\n"), body));
            output.flush();
        }

        void reply(int status, String body, String... headers) throws IOException {
            reply(status, Bytes.utf8(body), headers);
        }
    }

    /** Answers a call. */
    interface Script {
        void answer(Call call) throws Exception;
    }

    final List<Call> calls = Collections.synchronizedList(new ArrayList<>());
    final String address;
    private final ServerSocket socket;
    private volatile Script script;

    ScriptedServer(Script script) throws IOException {
        this(0, script);
    }

    ScriptedServer(int port, Script script) throws IOException {
        this.script = script;
        socket = new ServerSocket(port, 256, InetAddress.getByName("127.0.0.1"));
        address = "http://127.0.0.1:" + socket.getLocalPort();
        daemon(this::accept);
    }

    void script(Script script) {
        this.script = script;
    }

    private static void daemon(Runnable work) {
        Thread thread = new Thread(work, "scripted server");
        thread.setDaemon(true);
        thread.start();
    }

    private void accept() {
        while (!socket.isClosed()) {
            try {
                Socket connection = socket.accept();
                daemon(() -> serve(connection));
            } catch (IOException closed) {
                return;
            }
        }
    }

    private void serve(Socket connection) {
        try (Socket used = connection) {
            Call call = new Call(used.getInputStream(), used.getOutputStream());
            calls.add(call);
            script.answer(call);
        } catch (Exception ended) {
            // The client has heard enough.
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }

    // Tokens

    static final String APP = "projects/example-project/apps/1:1234567890:android:321abc456def7890";

    static String jwt(String id, String audience, long issued, long end, String more) {
        String claims = "{\"sub\":\"" + id + "\",\"aud\":[\"" + audience + "\"],\"iat\":" + issued + ",\"exp\":" + end + more + "}";
        return encoded("{\"alg\":\"RS256\"}") + "." + encoded(claims) + "." + encoded("signature");
    }

    private static String encoded(String text) {
        return Base64Text.encode(Bytes.utf8(text)).replace("=", "").replace('+', '-').replace('/', '_');
    }

    private static int issued;

    static synchronized String jwt(long seconds) {
        return jwt("1:1234567890:android:321abc456def7890", "projects/example-project", 1000, 1000 + seconds, ",\"jti\":" + ++issued);
    }

    static String token(long seconds) {
        return "{\"token\":\"" + jwt(seconds) + "\",\"ttl\":\"" + seconds + "s\"}";
    }
}
