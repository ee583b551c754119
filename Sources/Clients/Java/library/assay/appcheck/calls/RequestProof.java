package assay.appcheck.calls;

import java.util.LinkedHashMap;
import java.util.Map;

import assay.appcheck.transport.HttpRequest;
import assay.appcheck.wire.Base64Text;
import assay.appcheck.wire.Bytes;
import assay.appcheck.wire.ServerAddress;

/** What a proof of a request covers, in the form of RFC 9421, as the article <em>Prove requests</em> of the server has it. */
public final class RequestProof {
    private static final String METHOD = "\"@method\": ";
    private static final String COVERED = "(\"@method\" \"@authority\" \"@request-target\" \"content-digest\")";

    private final HttpRequest request;
    private final ServerAddress address;
    private final String contentDigest;
    private final String parameters;

    /** @param createdSeconds since 1970, by the server's clock */
    public RequestProof(HttpRequest request, ServerAddress address, long createdSeconds) {
        this.request = request;
        this.address = address;
        contentDigest = "sha-256=:" + Base64Text.encode(Bytes.sha256(request.body())) + ":";
        parameters = COVERED + ";created=" + createdSeconds + ";tag=\"appcheck-request\"";
    }

    /**
     * Whether what a server wants signed for a token begins as a proof does: no genuine artifact does, and the signature would be
     * good for a request.
     */
    public static boolean isBegunBy(byte[] bytes) {
        return Bytes.startsWith(bytes, Bytes.utf8(METHOD));
    }

    /** SHA-256 of the signature base: what the device signs. */
    public byte[] clientDataHash() {
        return Bytes.sha256(Bytes.utf8(base()));
    }

    /** The signature base (RFC 9421, section 2.5). */
    String base() {
        return METHOD + request.method() + "\n\"@authority\": " + address.authority() + "\n\"@request-target\": " + address.target
            + "\n\"content-digest\": " + contentDigest + "\n\"@signature-params\": " + parameters;
    }

    /** The header fields of the proof; other signatures of the request stay beside it. */
    public Map<String, String> headers(byte[] assertion) {
        Map<String, String> fields = new LinkedHashMap<>();
        fields.put("Content-Digest", contentDigest);
        fields.put("Signature-Input", beside("Signature-Input", "appcheck=" + parameters));
        fields.put("Signature", beside("Signature", "appcheck=:" + Base64Text.encode(assertion) + ":"));
        return fields;
    }

    private String beside(String name, String member) {
        String others = request.header(name);
        return others == null ? member : others + ", " + member;
    }
}
