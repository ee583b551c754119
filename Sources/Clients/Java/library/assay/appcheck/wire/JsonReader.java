package assay.appcheck.wire;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A recursive-descent reader, whose recursion is bounded. A null value means that the text is refused. */
final class JsonReader {
    private static final int DEPTH_LIMIT = 16;
    private static final int VALUE_LIMIT = 2048;
    private static final int MEMBER_LIMIT = 256;
    private static final int NUMBER_LIMIT = 32;

    private final String text;
    private int position;
    private int values;

    JsonReader(String text) {
        this.text = text;
    }

    Object read() {
        Object value = value(0);
        skipSpace();
        return position == text.length() ? value : null;
    }

    private int next() {
        return position < text.length() ? text.charAt(position) : -1;
    }

    private void skipSpace() {
        while (next() == ' ' || next() == '\n' || next() == '\r' || next() == '\t') position++;
    }

    private boolean closes(char bracket) {
        skipSpace();
        return takes(bracket);
    }

    private boolean takes(char expected) {
        if (next() != expected) return false;
        position++;
        return true;
    }

    private Object value(int depth) {
        if (++values > VALUE_LIMIT) return null;
        skipSpace();
        switch (next()) {
            case '{': return depth < DEPTH_LIMIT ? object(depth + 1) : null;
            case '[': return depth < DEPTH_LIMIT ? list(depth + 1) : null;
            case '"': return string();
            case 't': return word("true", true);
            case 'f': return word("false", false);
            case 'n': return word("null", Json.NULL);
            default: return number();
        }
    }

    private Object word(String word, Object value) {
        if (!text.startsWith(word, position)) return null;
        position += word.length();
        return value;
    }

    private Map<String, Object> object(int depth) {
        position++;
        Map<String, Object> members = new LinkedHashMap<>();
        if (closes('}')) return members;
        while (true) {
            skipSpace();
            String name = next() == '"' ? string() : null;
            if (name == null || members.size() >= MEMBER_LIMIT) return null;
            skipSpace();
            if (!takes(':')) return null;
            Object value = value(depth);
            if (value == null || members.put(name, value) != null) return null;
            if (closes('}')) return members;
            if (!takes(',')) return null;
        }
    }

    private List<Object> list(int depth) {
        position++;
        List<Object> elements = new ArrayList<>();
        if (closes(']')) return elements;
        while (true) {
            Object value = value(depth);
            if (value == null) return null;
            elements.add(value);
            if (closes(']')) return elements;
            if (!takes(',')) return null;
        }
    }

    private Object number() {
        int start = position;
        takes('-');
        int first = position;
        int count = digits();
        if (count == 0 || count > 1 && text.charAt(first) == '0') return null;
        boolean isWhole = true;
        if (takes('.')) {
            isWhole = false;
            if (digits() == 0) return null;
        }
        if (takes('e') || takes('E')) {
            isWhole = false;
            if (!takes('+')) takes('-');
            if (digits() == 0) return null;
        }
        if (position - start > NUMBER_LIMIT) return null;
        String number = text.substring(start, position);
        try {
            if (isWhole) return Long.parseLong(number);
        } catch (NumberFormatException tooLarge) {
            // It is read as another number is.
        }
        double value = Double.parseDouble(number);
        return Double.isInfinite(value) ? null : (Object) value;
    }

    private int digits() {
        int start = position;
        while (next() >= '0' && next() <= '9') position++;
        return position - start;
    }

    private String string() {
        position++;
        StringBuilder found = new StringBuilder();
        while (position < text.length()) {
            char unit = text.charAt(position++);
            if (unit == '"') return isWellFormed(found) ? found.toString() : null;
            if (unit < 0x20) return null;
            if (unit != '\\') {
                found.append(unit);
                continue;
            }
            int escaped = escape();
            if (escaped < 0) return null;
            found.append((char) escaped);
        }
        return null;
    }

    private int escape() {
        int kind = next();
        position++;
        switch (kind) {
            case '"': case '\\': case '/': return kind;
            case 'b': return '\b';
            case 'f': return '\f';
            case 'n': return '\n';
            case 'r': return '\r';
            case 't': return '\t';
            case 'u': break;
            default: return -1;
        }
        int unit = 0;
        for (int digit = 0; digit < 4; digit++, position++) {
            int value = next() < 128 ? Character.digit(next(), 16) : -1;
            if (value < 0) return -1;
            unit = unit << 4 | value;
        }
        return unit;
    }

    /** Whether each surrogate is one of a pair, as in UTF-8. */
    private static boolean isWellFormed(CharSequence units) {
        for (int index = 0; index < units.length(); index++) {
            char unit = units.charAt(index);
            if (!Character.isSurrogate(unit)) continue;
            boolean isPair = Character.isHighSurrogate(unit) && index + 1 < units.length()
                && Character.isLowSurrogate(units.charAt(index + 1));
            if (!isPair) return false;
            index++;
        }
        return true;
    }
}
