package assay.appcheck;

import static assay.appcheck.Checks.equal;
import static assay.appcheck.Checks.that;

import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

import assay.appcheck.wire.AppName;
import assay.appcheck.wire.Base64Text;
import assay.appcheck.wire.Bytes;
import assay.appcheck.wire.HttpDate;
import assay.appcheck.wire.Json;
import assay.appcheck.wire.JsonText;
import assay.appcheck.wire.ServerAddress;
import assay.appcheck.wire.ShownText;

final class WireTests {
    private static Object read(String text) {
        return Json.read(Bytes.utf8(text));
    }

    public static void jsonIsReadStrictly() {
        equal(read(" {\"a\":[1,-2.5e1,true,null,\"\\u00e9\\n\\ud83d\\ude00\"]} ").toString(), "{a=[1, -25.0, true, null, \u00e9\n\ud83d\ude00]}");
        equal(read("9223372036854775807"), Long.MAX_VALUE);
        that(read("9223372036854775808") instanceof Double, "a number that does not fit is another one");
        for (String text : Arrays.asList(
            "", " ", "{", "[1,]", "{\"a\":1,}", "{\"a\":1,\"a\":1}", "{a:1}", "01", "+1", ".5", "1.", "1e", "-", "1e999", "NaN", "tru",
            "nulll", "\"\t\"", "\"\\x\"", "\"\\u12g4\"", "\"\\ud800\"", "\"\\udc00\\ud800\"", "\"a", "\"\\", "1 2", "[1 2]", "{\"a\" 1}",
            "\ufeff{}", "'a'", "123456789012345678901234567890123")) {
            that(read(text) == null, "it is read: " + text);
        }
        that(Json.read(new byte[] {'"', (byte) 0xC3, '"'}) == null, "invalid UTF-8 is read");
        that(Json.read(new byte[] {'"', (byte) 0xED, (byte) 0xA0, (byte) 0x80, '"'}) == null, "a surrogate in UTF-8 is read");
    }

    public static void jsonIsReadWithinBounds() {
        that(read(repeated("[", 16) + repeated("]", 16)) != null, "16 levels are refused");
        that(read(repeated("[", 17) + repeated("]", 17)) == null, "17 levels are read");
        that(read(repeated("[", 60_000)) == null, "an endless text is read");
        that(read("[" + repeated("1,", 2046) + "1]") != null, "2048 values are refused");
        that(read("[" + repeated("1,", 2047) + "1]") == null, "2049 values are read");
        that(read("\"" + repeated("a", 65_535) + "\"") == null, "more than 64 KB are read");
        StringBuilder members = new StringBuilder();
        for (int index = 0; index < 257; index++) members.append(index == 0 ? "" : ",").append("\"").append(index).append("\":1");
        that(read("{" + members + "}") == null, "257 members are read");
    }

    /** Changed texts make no error but a refusal, and what is read is written and read again alike. */
    public static void noTextBreaksTheReader() {
        Random random = new Random(20261128);
        byte[] seed = Bytes.utf8("{\"token\":\"a.b.c\",\"ttl\":\"3600s\",\"n\":[1,2.5,-3e2,{\"x\":null}],\"s\":\"\\u00e9\\\\\"}");
        int read = 0;
        for (int round = 0; round < 50_000; round++) {
            byte[] text = seed.clone();
            for (int change = random.nextInt(3); change >= 0; change--) {
                text[random.nextInt(text.length)] = (byte) (random.nextInt(4) == 0 ? random.nextInt(256) : "{}[]\",:\\u019.eE-tfn ".charAt(random.nextInt(20)));
            }
            if (Json.read(Arrays.copyOf(text, text.length - random.nextInt(2) * random.nextInt(text.length))) != null) read++;
        }
        that(read > 100, "only " + read + " changed texts are JSON");
    }

    private static String repeated(String text, int count) {
        return String.join("", Collections.nCopies(count, text));
    }

    public static void jsonIsWritten() {
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("text", "a\"\\\n\u0001\u00e9\ud83d\ude00");
        members.put("bytes", new byte[] {-1, -2, -3});
        members.put("list", Arrays.asList("a", new byte[] {1}, 7L));
        members.put("flag", true);
        byte[] written = JsonText.object(members);
        Map<String, Object> read = Json.readObject(written);
        equal(Json.text(read, "text"), members.get("text"));
        equal(Json.text(read, "bytes"), "//79");
        equal(read.get("list").toString(), "[a, AQ==, 7]");
        equal(read.get("flag"), true);
    }

    public static void base64IsReadInEitherAlphabet() {
        Random random = new Random(7);
        for (int length = 0; length < 100; length++) {
            byte[] bytes = new byte[length];
            random.nextBytes(bytes);
            String text = Base64Text.encode(bytes);
            equal(text, java.util.Base64.getEncoder().encodeToString(bytes));
            equal(Base64Text.decode(text), bytes);
            equal(Base64Text.decode(text.replace("=", "")), bytes);
            equal(Base64Text.decode(text.replace('+', '-').replace('/', '_')), bytes);
        }
        for (String text : Arrays.asList("A", "=", "AA=", "AAA==", "A===", "AB==", "AAB=", "A A=", "AA\n=", "\u00e9AAA", "====", "AAAAA")) {
            that(Base64Text.decode(text) == null, "it is read: " + text);
        }
    }

    public static void addressesAreReadStrictly() {
        equal(ServerAddress.read("https://API.example.com/a?b=c").authority(), "api.example.com");
        equal(ServerAddress.read("https://api.example.com:443").target, "/");
        equal(ServerAddress.read("https://api.example.com:8443?q").authority(), "api.example.com:8443");
        equal(ServerAddress.read("https://api.example.com?q").target, "/?q");
        equal(ServerAddress.read("http://[::1]:80/").authority(), "[::1]");
        for (String address : Arrays.asList("https://assay.example.com", "https://assay.example.com/", "https://assay.example.com/v1", "https://assay.example.com/v1beta/")) {
            equal(ServerAddress.read(address).service().text, "https://assay.example.com");
        }
        for (String address : Arrays.asList(
            "", "ftp://a", "https://", "https://a@b/", "https://a:b@c/", "https://a/#b", "https://a/\u00e9", "https://a b/", "https://a:0/",
            "https://a:65536/", "https://a:1:2/", "https://-a/", "HTTPS://a/", "https://a\\@b/", "https://[::1/", "https://a\n.b/")) {
            that(ServerAddress.read(address) == null, "it is read: " + address);
        }
        for (String host : Arrays.asList("localhost.example.com", "127.0.0.2", "127.0.0.1.example.com")) {
            that(!ServerAddress.read("http://" + host + "/").isProtected(), "it is taken for this machine: " + host);
        }
    }

    public static void namesOfApps() {
        AppName app = AppName.read(ScriptedServer.APP);
        equal(Arrays.asList(app.project, app.id), Arrays.asList("example-project", "1:1234567890:android:321abc456def7890"));
        equal(AppName.read("oauthClients/a.apps.googleusercontent.com").project, null);
        for (String name : Arrays.asList("", "projects/p/apps/", "projects//apps/a", "projects/../apps/a", "projects/p/apps/.", "projects/p/apps/a/b", "projects/p/apps/a?b", "oauthClients/..", "apps/a")) {
            that(AppName.read(name) == null, "it is read: " + name);
        }
    }

    public static void datesAndWords() {
        equal(HttpDate.millis("Sun, 06 Nov 1994 08:49:37 GMT"), 784_111_777_000L);
        for (String text : Arrays.asList("", "soon", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 36 Nov 1994 08:49:37 GMT", "06 Nov 1994 08:49:37 GMT")) {
            equal(HttpDate.millis(text), null);
        }
        equal(ShownText.of("a\u001b[2J\u202eb"), "a?[2J?b");
        equal(ShownText.of(repeated("x", 5000)).length(), 300);
        List<Integer> hex = Arrays.asList(Bytes.hex(new byte[] {0, -1}).length(), Bytes.hex(Bytes.sha256()).length());
        equal(hex, Arrays.asList(4, 64));
    }
}
