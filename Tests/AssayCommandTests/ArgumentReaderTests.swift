import ArgumentParser
import AssayCore
import Testing

@testable import AssayCommand

/// An operator who mistypes a value learns what is wrong with it, and what is accepted.
@Suite("Values of options")
struct ArgumentReaderTests {
    private static func cause<Value>(_ reader: ArgumentReader<Value>, _ text: String) -> String? {
        do {
            _ = try reader.value(text)
            return nil
        } catch {
            let message = "\(error)"
            let end = "; expected \(reader.accepted)"
            #expect(message.hasSuffix(end), "\(message)")
            return String(message.dropLast(end.count))
        }
    }

    @Test(
        "A size has a unit or none, and bounds that are named",
        arguments: [
            ("64K", nil), ("65536", nil), ("1M", nil), ("1024G", nil), ("63K", "too small"), ("65535", "too small"),
            ("0", "too small"), ("-1", "too small"), ("-1K", "too small"), ("1025G", "too large"),
            ("9223372036854775807", "too large"), ("9223372036854775807G", "too large"),
            ("99999999999999999999", "too large"), ("", "not a number of bytes"), ("K", "not a number of bytes"),
            ("64k", "not a number of bytes"), ("64KiB", "not a number of bytes"), ("+64K", "not a number of bytes"),
            ("6 4K", "not a number of bytes"), ("１M", "not a number of bytes"), ("0x10000", "not a number of bytes"),
        ])
    func sizes(_ text: String, _ expected: String?) {
        let reader = ArgumentReader<ByteQuantity>.size(65_536...(1 << 40))
        #expect(Self.cause(reader, text) == expected)
        #expect(reader.accepted == "a number of bytes from 64K to 1024G, with K, M or G for 1024 and its powers")
    }

    @Test(
        "A size is shown in the largest unit that it is whole in",
        arguments: [
            (0, "0"), (1, "1"), (1023, "1023"), (1024, "1K"), (1536, "1536"), (1 << 20, "1M"), (3 << 30, "3G"),
            (1 << 40, "1024G"),
        ])
    func sizeText(_ bytes: Int, _ expected: String) throws {
        #expect(ByteQuantity(bytes: bytes).text == expected)
        if bytes > 0 {
            #expect(try ArgumentReader<ByteQuantity>.size(0...(1 << 40)).value(expected).bytes == bytes)
        }
    }

    @Test(
        "A duration has units and bounds",
        arguments: [
            ("100ms", nil), ("1d", nil), ("23h59m", nil), ("0s", "too short"), ("0", "too short"),
            ("99ms", "too short"), ("1d1ms", "too long"), ("999999999d", "too long"), ("5", "a number without a unit"),
            ("-5s", "negative"), ("", "not a duration"), ("soon", "not a duration"),
            ("5S", "not a duration (did you mean 5s?)"),
            ("5s1m", "not a duration (did you mean 1m5s?)"), ("5min", "not a duration (did you mean 5m?)"),
        ])
    func durations(_ text: String, _ expected: String?) {
        let reader = ArgumentReader<Duration>.duration(.milliseconds(100)...Duration.seconds(86_400))
        #expect(Self.cause(reader, text) == expected)
        #expect(reader.bounds == "100ms to 1d")
    }

    @Test(
        "A duration is shown as it is written",
        arguments: [
            (Duration.zero, "0"), (.milliseconds(1), "1ms"), (.seconds(1), "1s"), (.milliseconds(1500), "1500ms"),
            (.seconds(90), "90s"), (.seconds(120), "2m"), (.seconds(7200), "2h"), (.seconds(366 * 86_400), "366d"),
        ])
    func durationText(_ duration: Duration, _ expected: String) throws {
        #expect(ArgumentReader<Duration>.text(of: duration) == expected)
        #expect(try ArgumentReader<Duration>.duration(expected) == duration)
    }

    @Test("An interval may also be `never`, and its default is shown")
    func watch() throws {
        let reader = ArgumentReader<WatchInterval>.watchInterval
        #expect(try reader.value("never").duration == nil)
        #expect(try reader.value("2s").duration == .seconds(2))
        #expect(reader.text(WatchInterval(duration: nil)) == "never")
        #expect(reader.text(WatchInterval(duration: .seconds(1))) == "1s")
        #expect(Self.cause(reader, "Never") == "not a duration")
        #expect(Self.cause(reader, "0s") == "too short")
        #expect(reader.accepted.hasSuffix(", or `never`"))
    }

    @Test(
        "A time is a time with its zone, a day, or a duration",
        arguments: [
            ("2026-11-24T08:15:00Z", nil), ("2026-11-24T08:15:00+02:00", nil), ("2026-11-24", nil), ("2h", nil),
            ("0", nil), ("yesterday", "neither a time nor a duration"), ("", "neither a time nor a duration"),
            ("2026-11-24T08:15:00", "a time without its zone, which is Z for UTC"),
            ("2026-02-30", "neither a time nor a duration"), ("2026-13-01", "neither a time nor a duration"),
            ("24.11.2026", "neither a time nor a duration"), ("5", "a number without a unit"), ("-2h", "negative"),
        ])
    func times(_ text: String, _ expected: String?) {
        #expect(Self.cause(.past, text) == expected)
        #expect(Self.cause(.future, text) == expected)
    }

    @Test("A duration is before now for records, and from now for the end of an entry")
    func direction() throws {
        let now = HostClock.system.now
        #expect(try ArgumentReader<Instant>.past.value("1d") < now)
        #expect(try ArgumentReader<Instant>.future.value("1d") > now)
        #expect(try ArgumentReader<Instant>.past.value("2026-11-24") == Instant(rfc3339: "2026-11-24T00:00:00Z"))
    }

    @Test(
        "An address names what it lacks",
        arguments: [
            ("127.0.0.1:8080", nil), ("[::1]:0", nil), ("unix:/run/a", nil), ("systemd:", nil), ("systemd:web", nil),
            ("localhost", "no port"), ("", "no port"), (":80", "no host"), ("[]:80", "no host"),
            ("a:", "the port is not a number from 0 to 65535"), ("a:65536", "the port is not a number from 0 to 65535"),
            ("a:-1", "the port is not a number from 0 to 65535"), ("a:+1", "the port is not a number from 0 to 65535"),
            ("unix:", "the path has not 1 to 103 bytes"),
        ])
    func addresses(_ text: String, _ expected: String?) {
        #expect(Self.cause(.socketAddress, text) == expected)
    }

    @Test("A path of a socket has at most the bytes that the system takes", arguments: [(103, true), (104, false)])
    func socketPath(_ count: Int, _ isTaken: Bool) {
        let text = "unix:\(String(repeating: "a", count: count))"
        #expect((Self.cause(.socketAddress, text) == nil) == isTaken)
    }

    @Test(
        "A socket's mode leaves the server itself access",
        arguments: [
            ("600", nil), ("660", nil), ("0777", nil), ("1777", "more than permissions"),
            ("066", "the server itself could not connect"), ("400", "the server itself could not connect"),
            ("888", "not three octal digits"), ("66", "not three octal digits"), ("rw-", "not three octal digits"),
            ("-60", "not three octal digits"), ("+660", "not three octal digits"), ("", "not three octal digits"),
        ])
    func modes(_ text: String, _ expected: String?) {
        #expect(Self.cause(.socketMode, text) == expected)
    }

    @Test(
        "A trusted proxy is an address or a range, and not everybody",
        arguments: [
            ("10.0.0.0/8", nil), ("::1", nil), ("unix", nil),
            ("0.0.0.0/0", "all addresses: every client could forge its own"),
            ("::/0", "all addresses: every client could forge its own"), ("proxy", "neither an address nor a range"),
            ("10.0.0.0/33", "neither an address nor a range"), ("", "neither an address nor a range"),
        ])
    func proxies(_ text: String, _ expected: String?) {
        #expect(Self.cause(.trustedProxy, text) == expected)
    }

    @Test(
        "Other places say what is wrong with them",
        arguments: [
            ("https://a.example", nil), ("http://localhost:1", nil),
            ("http://a.example", "not a URL that can be called"),
            ("a.example", "not a URL that can be called"), ("https://a.example?x", "a URL with a query"),
        ] as [(String, String?)])
    func urls(_ text: String, _ expected: String?) {
        #expect(Self.cause(.url("https://host"), text) == expected)
    }

    @Test("A reference to a secret names a place, and messages never repeat a secret by themselves")
    func secrets() {
        #expect(Self.cause(.secret, "env:A") == nil)
        #expect(Self.cause(.secret, "assay_ct_0123456789") == "not a reference to a secret")
        #expect(Self.cause(.operationsPlace, "public") == nil)
        #expect(Self.cause(.operationsPlace, "Public") == "no port")
    }

    @Test(
        "An outcome that there is not is refused with the nearest one",
        arguments: [
            ("refused", nil), ("refusd", "unknown (did you mean `refused`?)"),
            ("Issued", "unknown (did you mean `issued`?)"),
            ("summed", "unknown"), ("", "unknown"), ("r\u{E9}fused", "unknown (did you mean `refused`?)"),
        ])
    func outcomes(_ text: String, _ expected: String?) {
        #expect(Self.cause(.outcome, text) == expected)
    }

    @Test(
        "A fact to deny is a name and a value, which may have further equals signs",
        arguments: [
            ("a=b", nil), ("a=", nil), ("a=b==", nil), ("a", "no equals sign"), ("", "no equals sign"),
            ("=b", "no name"),
        ])
    func facts(_ text: String, _ expected: String?) {
        #expect(Self.cause(.deniedFact, text) == expected)
    }

    @Test("Every option of the commands says why, whatever is typed")
    func commands() {
        let cases: [(any ParsableCommand.Type, [String], String)] = [
            (ServeCommand.self, ["--watch", "0s"], "too short"),
            (ServeCommand.self, ["--audit", "a", "--audit-rotate-size", "63K"], "too small"),
            (ServeCommand.self, ["--audit", "a", "--audit-rotate-age", "59s"], "too short"),
            (ServeCommand.self, ["--audit", "a", "--audit-rotate-age", "1d", "--audit-keep", "-1"], "too small"),
            (ServeCommand.self, ["--capture-rate", "10001"], "too large"),
            (ServeCommand.self, ["--listen", "8080"], "no port"),
            (ServeCommand.self, ["--operations", "x"], "no port"),
            (ServeCommand.self, ["--socket-mode", "8"], "not three octal digits"),
            (ServeCommand.self, ["--trusted-proxy", "::/0"], "all addresses"),
            (DecisionsListCommand.self, ["--audit", "a", "--since", "yesterday"], "neither a time nor a duration"),
            (DecisionsListCommand.self, ["--audit", "a", "--limit", "0"], "too small"),
            (DecisionsListCommand.self, ["--audit", "a", "--outcome", "refusd"], "unknown (did you mean `refused`?)"),
            (DecisionsStatsCommand.self, ["--audit", "a", "--by", "app", "--until", "-2h"], "negative"),
            (AuditEventsCommand.self, ["a", "--kind", "deny_add"], "unknown (did you mean `deny_added`?)"),
            (AuditEventsCommand.self, ["a", "--limit", "many"], "not a whole number"),
            (KeysPrepareCommand.self, ["--lead", "31d"], "too long"),
            (PolicyTestCommand.self, ["--coverage-at-least", "101"], "too large"),
            (DenyAddCommand.self, ["--project", "p", "--fact", "x"], "no equals sign"),
            (
                DenyAddCommand.self, ["--project", "p", "--jti", "a", "--until", "tomorrow"],
                "neither a time nor a duration"
            ),
            (DenyListCommand.self, ["--project", "p", "--endpoint", "a"], "not a URL that can be called"),
            (PluginsListCommand.self, ["--operations", "a"], "not a URL that can be called"),
        ]
        for (command, arguments, cause) in cases {
            do {
                _ = try command.parse(arguments)
                Issue.record("\(arguments) were taken")
            } catch {
                let message = command.message(for: error)
                #expect(message.contains("': \(cause)"), "\(message)")
                #expect(message.contains("; expected "), "\(message)")
            }
        }
    }

    @Test("The help says the bounds and the default of an option")
    func help() {
        let serve = ServeCommand.helpMessage(columns: 1000)
        for words in [
            "The most connections at once. (1 to 1000000; default: 10000)", "(100ms to 1d; default: 1s)",
            "(64K to 1024G)", "(default: 127.0.0.1:8080)",
        ] { #expect(serve.contains(words), "\(words)") }
        #expect(DenyAddCommand.helpMessage(columns: 1000).contains("(default: http://127.0.0.1:8080)"))
        #expect(DenyAddCommand.helpMessage(columns: 1000).contains("(default: env:ASSAY_TOKEN)"))
    }

    @Test(
        "A period that is empty is refused",
        arguments: [
            (["--since", "2026-11-24", "--until", "2026-11-24"], false),
            (["--since", "1h", "--until", "2h"], false), (["--since", "2h", "--until", "1h"], true),
            (["--until", "2026-11-24"], true),
        ])
    func periods(_ arguments: [String], _ isTaken: Bool) {
        #expect(((try? PeriodOptions.parse(arguments)) != nil) == isTaken)
    }

    @Test(
        "A fact is sent in the type that it has; of an unknown one, numbers and truth values are no texts",
        arguments: [
            ("bundle", "5", "5"), ("bundle", "true", "true"), ("count", "5", 5), ("count", "x", "x"),
            ("bit", "true", true), ("bit", "1", "1"), ("other", "5", 5), ("other", "true", true), ("other", "5s", "5s"),
            ("other", "", ""), ("other", "99999999999999999999", "99999999999999999999"),
        ] as [(String, String, JSON)])
    func factTypes(_ name: String, _ text: String, _ expected: JSON) {
        let known = [FactName("bundle", .version), FactName("count", .integer), FactName("bit", .bool)]
        #expect(DeniedFact(name: name, text: text).value(among: known) == expected)
    }

    @Test(
        "Each fact of an entry is given once",
        arguments: [
            (["--key-id", "a", "--fact", "key_id=b"], false), (["--fact", "a=1", "--fact", "a=2"], false),
            (["--jti", "a", "--fact", "jti=a"], false), (["--fact", "a=1", "--fact", "b=1"], true), ([], false),
        ])
    func factsOnce(_ arguments: [String], _ isTaken: Bool) {
        #expect(((try? DenyAddCommand.parse(["--project", "p"] + arguments)) != nil) == isTaken)
    }
}
