import ArgumentParser
import AssayCore
import AssayHTTP
import AssayHTTPServer
import AssayKit
import Testing

@testable import AssayCommand

/// A number that is silently replaced by another is a limit that an operator believes in and does not have.
@Suite("Limits of the options of assay serve")
struct ServeOptionLimitsTests {
    private struct Range: Sendable, CustomTestStringConvertible {
        let option: String
        let values: ClosedRange<Int>
        var testDescription: String { option }
    }

    private static let ranges = [
        Range(option: "--max-connections", values: 1...1_000_000),
        Range(option: "--max-body-bytes", values: 1024...16_777_216),
        Range(option: "--max-header-bytes", values: 1024...65_536),
        Range(option: "--receive-time", values: 1...600),
        Range(option: "--idle-time", values: 1...3600),
        Range(option: "--max-transport-bytes", values: 1_048_576...1_099_511_627_776),
        Range(option: "--max-streams", values: 1...1_000_000),
        Range(option: "--ext-authz-max-connections", values: 4...65_536),
        Range(option: "--record-rate", values: 1...100_000),
        Range(option: "--record-rate-app", values: 1...100_000),
        Range(option: "--record-rate-peer", values: 1...100_000),
        Range(option: "--record-interval", values: 1...3600),
    ]

    private func message(_ arguments: [String]) -> String? {
        do {
            _ = try ServeCommand.parse(arguments)
            return nil
        } catch {
            return ServeCommand.message(for: error)
        }
    }

    @Test("Each number has a smallest and a largest one, which are allowed, and are named where they are exceeded")
    func ranges() {
        for range in Self.ranges {
            for value in [range.values.lowerBound, range.values.upperBound] {
                #expect(message([range.option, "\(value)"]) == nil, "\(range.option) \(value)")
            }
            let bounds = "expected a number from \(range.values.lowerBound) to \(range.values.upperBound)"
            for value in [range.values.lowerBound - 1, range.values.upperBound + 1, -1, .min, .max] {
                let cause = value < range.values.lowerBound ? "too small" : "too large"
                for arguments in [["\(range.option)=\(value)"], [range.option, "\(value)"]] {
                    let found = message(arguments)
                    #expect(found?.hasPrefix("The value '\(value)' is invalid for '\(range.option) ") == true)
                    #expect(found?.hasSuffix("': \(cause); \(bounds)") == true, "\(found ?? "")")
                }
            }
        }
    }

    @Test("What is no number is refused with the option's name", arguments: ["", "x", "1k", "0x10", "1.5", "１"])
    func noNumber(_ text: String) {
        for range in Self.ranges {
            let found = message(["\(range.option)=\(text)"])
            #expect(found?.contains(range.option) == true, "\(range.option)")
            let cause = text.isEmpty ? "" : ": not a whole number; expected a number from "
            #expect(found?.contains(cause) == true, "\(found ?? "")")
        }
    }

    @Test("The numbers reach the server")
    func effect() throws {
        let limits = try LimitOptions.parse([
            "--max-connections", "5", "--max-body-bytes", "2048", "--max-header-bytes", "4096", "--receive-time", "7",
            "--idle-time", "9", "--max-transport-bytes", "2097152", "--max-streams", "11",
        ])
        #expect(limits.limits.maximumConnections == 5)
        #expect(limits.limits.bodyBytes == 2048)
        #expect(limits.limits.headerBytes == 4096)
        #expect(limits.limits.headTime == .seconds(7))
        #expect(limits.limits.bodyTime == .seconds(7))
        #expect(limits.limits.idleTime == .seconds(9))
        #expect(limits.budget.byteLimit == 2_097_152)
        #expect(limits.budget.streamLimit == 11)
        let records = try RecordOptions.parse([
            "--record-rate", "2", "--record-rate-app", "3", "--record-rate-peer", "4", "--record-interval", "5",
        ]).limits
        #expect(records.strangersPerSecond == 2 && records.appPerSecond == 3 && records.peerPerSecond == 4)
        #expect(records.interval == .seconds(5))
    }

    @Test("What is written in the help as the default is in force without the option")
    func defaults() throws {
        let limits = try LimitOptions.parse([]).limits
        let standard = HTTPLimits()
        #expect(limits.bodyBytes == standard.bodyBytes && limits.headerBytes == standard.headerBytes)
        #expect(limits.queueTime == standard.queueTime)
        #expect(limits.headTime == standard.headTime && limits.idleTime == standard.idleTime)
        let records = try RecordOptions.parse([]).limits
        #expect(records.strangersPerSecond == RecordLimits().strangersPerSecond)
        #expect(records.interval == RecordLimits().interval)
    }

    @Test(
        "Web pages may call from any origin, from none, or from those that are named",
        arguments: [
            ([], AllowedOrigins.any), (["any"], .any), (["none"], .none),
            (["https://a.example"], .only(["https://a.example"])),
            (["https://a.example", "http://localhost:8080"], .only(["https://a.example", "http://localhost:8080"])),
            (["https://a.example", "https://a.example"], .only(["https://a.example"])),
            (
                ["http://a.example:443", "https://a.example:65535"],
                .only(["http://a.example:443", "https://a.example:65535"])
            ),
        ] as [([String], AllowedOrigins)])
    func origins(_ origins: [String], _ expected: AllowedOrigins) throws {
        let options = try BrowserOptions.parse(origins.flatMap { ["--allow-origin", $0] })
        #expect(options.origins == expected)
    }

    @Test(
        "What is no origin is refused, as browsers would never send it",
        arguments: [
            "https://App.example.com", "https://app.example.com/", "https://app.example.com:", "app.example.com",
            "null",
            "*", "https://", "https://a b", "https://user@app.example.com", "https://app.example.com?x",
            "https://app.example.com:99999", "https://app.example.com:65536", "https://app.example.com:443",
            "http://app.example.com:80", "https://app.example.com:08080", "https://app.example.com:0",
            "https://*.example.com",
        ])
    func noOrigin(_ origin: String) {
        #expect(message(["--allow-origin=\(origin)"])?.hasPrefix("--allow-origin needs a scheme and a host") == true)
    }

    @Test(
        "Options that need another one name it",
        arguments: [
            (["--audit-required"], "--audit-required needs --audit FILE"),
            (["--audit-rotate-size", "1M"], "--audit-rotate-size and --audit-rotate-age need --audit FILE"),
            (
                ["--audit", "a", "--audit-keep", "3"],
                "--audit-keep and --audit-compress need --audit-rotate-size or --audit-rotate-age"
            ),
            (
                ["--audit", "a", "--audit-compress"],
                "--audit-keep and --audit-compress need --audit-rotate-size or --audit-rotate-age"
            ), (["--audit", "a", "--audit", "a"], "--audit has the same file twice"),
            (["--tls-key", "k"], "--tls-certificate FILE and --tls-key FILE must be given together"),
            (
                ["--ext-authz-listen", "127.0.0.1:1", "--ext-authz-client-ca", "ca"],
                "--ext-authz-client-ca needs --ext-authz-tls"
            ),
            (
                ["--ext-authz-listen", "0.0.0.0:1", "--ext-authz-tls"],
                "--ext-authz-tls needs --tls-certificate FILE and --tls-key FILE"
            ),
            (["--socket-mode", "0660"], "--socket-mode needs a Unix socket in --listen"),
            (
                ["--allow-origin", "none", "--allow-origin", "https://a.example"],
                "--allow-origin any and --allow-origin none cannot be combined with other values"
            ),
        ])
    func needs(_ arguments: [String], _ expected: String) {
        #expect(message(arguments) == expected)
    }
}

@Suite("Options of assay keys prepare and assay caller-token")
struct KeyOptionTests {
    @Test(
        "What means nothing together is refused",
        arguments: [
            (
                ["--sealing", "--algorithm", "ES256"],
                "--algorithm and --rsa-bits are for signing keys: every sealing key is AES-256-GCM"
            ),
            (
                ["--sealing", "--rsa-bits", "2048"],
                "--algorithm and --rsa-bits are for signing keys: every sealing key is AES-256-GCM"
            ),
            (
                ["--rsa-bits", "4096"],
                "The value '4096' is invalid for '--rsa-bits <rsa-bits>': not supported; expected 2048 or 3072"
            ),
            (
                ["--rsa-bits", "0"],
                "The value '0' is invalid for '--rsa-bits <rsa-bits>': not supported; expected 2048 or 3072"
            ),
            (["--algorithm", "ES256", "--rsa-bits", "2048"], "--rsa-bits has no effect with ES256"),
            (["--rsa-bits", "3072"], nil), (["--algorithm", "RS256", "--rsa-bits", "2048"], nil), (["--sealing"], nil),
        ] as [([String], String?)])
    func prepare(_ arguments: [String], _ expected: String?) {
        do {
            _ = try KeysPrepareCommand.parse(arguments)
            #expect(expected == nil)
        } catch {
            #expect(KeysPrepareCommand.message(for: error) == expected)
        }
    }

    @Test(
        "A caller's name can be a key of a policy as it stands",
        arguments: [
            ("administrator", true), ("a@b.example-1_x", true), (String(repeating: "a", count: 64), true),
            (String(repeating: "a", count: 65), false), ("", false), ("a b", false), ("a:", false), ("é", false),
            ("#a", false),
        ])
    func callerName(_ name: String, _ isGood: Bool) {
        do {
            _ = try CallerTokenCommand.parse(["--name", name])
            #expect(isGood)
        } catch {
            #expect(!isGood)
            #expect(
                CallerTokenCommand.message(for: error)
                    == "a caller's name is 1 to 64 letters, digits, `-`, `.`, `_` and `@`")
        }
    }
}
