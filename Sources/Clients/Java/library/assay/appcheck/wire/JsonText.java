package assay.appcheck.wire;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Writes JSON. */
public final class JsonText {
    private JsonText() {}

    /**
     * Writes an object in UTF-8, with its members in the order of the map.
     *
     * @param members texts, whole numbers, booleans, lists of these, and bytes, which become Base 64
     * @throws IllegalArgumentException for a value of another kind
     */
    public static byte[] object(Map<String, ?> members) {
        List<String> parts = new ArrayList<>();
        for (Map.Entry<String, ?> member : members.entrySet()) {
            parts.add(quoted(member.getKey()) + ":" + value(member.getValue()));
        }
        return Bytes.utf8("{" + Texts.join(",", parts) + "}");
    }

    private static String value(Object value) {
        if (value instanceof String) return quoted((String) value);
        if (value instanceof byte[]) return quoted(Base64Text.encode((byte[]) value));
        if (value instanceof Boolean || value instanceof Long || value instanceof Integer) return value.toString();
        if (!(value instanceof List)) throw new IllegalArgumentException("a value of a kind that is not written");
        List<String> parts = new ArrayList<>();
        for (Object element : (List<?>) value) parts.add(value(element));
        return "[" + Texts.join(",", parts) + "]";
    }

    private static String quoted(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (int index = 0; index < text.length(); index++) {
            char unit = text.charAt(index);
            if (unit == '"' || unit == '\\') {
                quoted.append('\\').append(unit);
            } else if (unit < 0x20 || Character.isSurrogate(unit)) {
                // A lone surrogate has no UTF-8, and as an escape it is refused by the server and not altered here.
                quoted.append("\\u").append(Bytes.hex(new byte[] {(byte) (unit >> 8), (byte) unit}));
            } else {
                quoted.append(unit);
            }
        }
        return quoted.append('"').toString();
    }
}
