import ArgumentParser
import AssayCore
import AssayTestSupport
import Foundation
import Testing

@testable import AssayStandard

@Suite("assay debug-token")
struct DebugTokenCommandTests {
    @Test("A debug token is made together with what goes into a policy")
    func debugToken() async throws {
        let made = try await AssayProcess.run("debug-token", "--token", "6B4E1D0C-8F3A-4A52-9C1F-0E7D5B2A9C10")
        #expect(made.status == 0)
        #expect(made.lines.last == "  sha256: e50aa1f3d888c1e78903df86492fc332930cd66d73cbe3d3e63b9834e8ff705a")
        let first = try await AssayProcess.run("debug-token").lines.first
        #expect(
            first?.contains(/^# the token: [0-9A-F]{8}-[0-9A-F]{4}-4[0-9A-F]{3}-[89AB][0-9A-F]{3}-[0-9A-F]{12}$/)
                == true)
        #expect(try await AssayProcess.run("debug-token", "--name", "").status == 2)
        #expect(try await AssayProcess.run("debug-token", "--token", "short").status == 2)
    }

    @Test(
        "What it prints is an entry of a policy, whatever the name has in it",
        arguments: [
            "a developer's device", #"a "quoted": #name"#, "true", "- [x]", "é 😀", " a ", "{{x}}", "a\nb",
        ])
    func entry(_ name: String) async throws {
        try await withTemporaryFolder { folder in
            let made = try await AssayProcess.run("debug-token", "--name=\(name)")
            #expect(made.status == 0, "\(made.errors)")
            let entry = made.lines.map { String(repeating: " ", count: 14) + $0 }.joined(separator: "\n")
            let policy = """
                projects:
                  - number: 1234567890
                    id: example-project
                    apps:
                      - id: 1:1234567890:ios:321abc456def7890
                        providers:
                          debug:
                            tokens:
                """
            let policies = folder.appendingPathComponent("policies")
            try FileManager.default.createDirectory(at: policies, withIntermediateDirectories: true)
            try Data("\(policy)\n\(entry)\n".utf8).write(to: policies.appendingPathComponent("a.yaml"))
            let checked = try await AssayProcess.run("policy", "check", folder: folder)
            #expect(checked.status == 0, "\(checked.errors)")
        }
    }

    @Test(
        "A token and a name have a length, which is counted in bytes",
        arguments: [
            (
                ["--token", String(repeating: "a", count: 15)],
                "a debug token has 16 characters or more; SDKs make UUIDs"
            ),
            (["--token", String(repeating: "a", count: 16)], nil),
            (["--name", String(repeating: "a", count: 100)], nil),
            (["--name", String(repeating: "a", count: 101)], "a debug token's name has 1 to 100 bytes"),
            (["--name", String(repeating: "é", count: 50)], nil),
            (["--name", String(repeating: "é", count: 51)], "a debug token's name has 1 to 100 bytes"),
        ] as [([String], String?)])
    func lengths(_ arguments: [String], _ expected: String?) {
        do {
            _ = try DebugTokenCommand.parse(arguments)
            #expect(expected == nil)
        } catch {
            #expect(DebugTokenCommand.message(for: error) == expected)
        }
    }

    @Test("Each token is another one, and has the form that Apple's SDK prints")
    func tokens() {
        let tokens = (0..<100).map { _ in DebugTokenCommand.uuid() }
        #expect(Set(tokens).count == tokens.count)
        for token in tokens {
            #expect(token.contains(/^[0-9A-F]{8}-[0-9A-F]{4}-4[0-9A-F]{3}-[89AB][0-9A-F]{3}-[0-9A-F]{12}$/), "\(token)")
        }
    }

    @Test("The letter case of a token does not matter, as SDKs print and send it differently")
    func hash() {
        let token = "6B4E1D0C-8F3A-4A52-9C1F-0E7D5B2A9C10"
        #expect(DebugTokenCommand.hash(of: token) == DebugTokenCommand.hash(of: token.lowercased()))
        #expect(DebugTokenCommand.hash(of: token).utf8.count == 64)
        #expect(DebugTokenCommand.hash(of: token) != DebugTokenCommand.hash(of: token + "0"))
    }
}
