import AssayCore
import AssayTestSupport
import Foundation
import Testing

@Suite("assay policy bundle")
struct PolicyBundleCommandTests {
    private func scene(_ body: (URL) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let policies = folder.appendingPathComponent("policies")
            try FileManager.default.createDirectory(at: policies, withIntermediateDirectories: true)
            try Data(BundlePolicies.text(apps: 1).utf8).write(to: policies.appendingPathComponent("a.yaml"))
            try Data("tests: []\n".utf8).write(to: policies.appendingPathComponent("a_test.yaml"))
            try await BundlePolicies.makeKeys(in: folder)
            try await body(folder)
        }
    }

    @Test("A key pair is in a new file for its user; a bundle of its key is verified, and shows what is in it")
    func roundTrip() async throws {
        try await scene { folder in
            let key = folder.appendingPathComponent("policies.key").path
            let mode = try FileManager.default.attributesOfItem(atPath: key)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            let again = try await AssayProcess.run("policy", "bundle", "keygen", "policies.key", folder: folder)
            #expect(again.status == 2)

            for number in ["41", "42"] {
                let created = try await AssayProcess.run(
                    "policy", "bundle", "create", "--key", "policies.key", "--out", "assay.bundle", "--number", number,
                    "--expires", "2099-01-01", "policies", folder: folder)
                #expect(created.status == 0, "\(created.errors)")
                #expect(created.output.hasPrefix("assay.bundle: version \(number), 1 file, revision "))
                #expect(
                    created.errors
                        == "warning: file:token is relative: on each server it begins at the folder that the server runs in\n"
                )
            }
            let verified = try await AssayProcess.run(
                "policy", "bundle", "verify", "--key", "policies.pub", "assay.bundle", folder: folder)
            #expect(verified.status == 0)
            let lines = verified.lines
            #expect(lines.count == 5)
            #expect(lines[0] == "version   42")
            #expect(lines[1].hasPrefix("signed    20"))
            #expect(lines[2] == "expires   2099-01-01T00:00:00Z")
            #expect(lines[3].wholeMatch(of: /revision  [0-9a-f]{16}/) != nil)
            let size = BundlePolicies.text(apps: 1).utf8.count
            #expect(lines[4] == "file      a.yaml  \(size) bytes")

            let late = try await AssayProcess.run(
                "policy", "bundle", "create", "--key", "policies.key", "--out", "late.bundle", "--expires",
                "2020-01-01",
                "policies", folder: folder)
            #expect(late.status == 2)
            #expect(late.errors.contains("--expires 2020-01-01T00:00:00Z is over"), "\(late.errors)")
            let brief = try await AssayProcess.run(
                "policy", "bundle", "create", "--key", "policies.key", "--out", "late.bundle", "--expires", "1s",
                "policies", folder: folder)
            #expect(brief.status == 0, "\(brief.errors)")
            try await Task.sleep(for: .seconds(1))
            let outdated = try await AssayProcess.run(
                "policy", "bundle", "verify", "--key", "policies.pub", "late.bundle", folder: folder)
            #expect(outdated.status == 1)
            #expect(outdated.errors.contains("it is out of date since "), "\(outdated.errors)")

            let bundle = folder.appendingPathComponent("assay.bundle")
            var bytes = try Data(contentsOf: bundle)
            bytes[bytes.count - 10] =
                bytes[bytes.count - 10] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            try bytes.write(to: bundle)
            let changed = try await AssayProcess.run(
                "policy", "bundle", "verify", "--key", "policies.pub", "assay.bundle", folder: folder)
            #expect(changed.status == 1)
            #expect(changed.errors.hasPrefix("assay: assay.bundle: its signature is wrong ("))
            let wrongKey = try await AssayProcess.run(
                "policy", "bundle", "verify", "--key", "policies/a.yaml", "assay.bundle", folder: folder)
            #expect(wrongKey.status == 2)
            #expect(wrongKey.errors.contains("policies/a.yaml is not a public key in PEM"))
        }
    }

    @Test(
        "Policies with errors are signed on request only; plugins.yaml is left out, and keys that others can read are refused"
    )
    func refusals() async throws {
        try await scene { folder in
            let file = folder.appendingPathComponent("policies/a.yaml")
            let create = ["policy", "bundle", "create", "--key", "policies.key", "--out", "assay.bundle", "policies"]
            func run(_ more: String...) async throws -> AssayProcess.Result {
                try await AssayProcess(create + more, folder: folder).result()
            }
            let production = try await run("--production")
            #expect(production.status == 1)
            try Data((BundlePolicies.text(apps: 1) + "colour: red\n").utf8).write(to: file)
            let refused = try await run()
            #expect(refused.status == 1)
            #expect(refused.errors.contains("policies/a.yaml:7:1: colour: unknown key `colour`"), "\(refused.errors)")
            #expect(refused.errors.contains("have errors and are not signed"))
            #expect(!FileManager.default.fileExists(atPath: folder.appendingPathComponent("assay.bundle").path))
            #expect(try await run("--allow-errors").status == 0)

            try Data(BundlePolicies.text(apps: 1).utf8).write(to: file)
            try Data("providers: {}\n".utf8).write(to: folder.appendingPathComponent("policies/plugins.yaml"))
            let left = try await run()
            #expect(left.status == 0, "\(left.errors)")
            #expect(left.errors.contains("warning: plugins.yaml is not in the bundle"))
            try FileManager.default.moveItem(at: file, to: folder.appendingPathComponent("policies/a b.yaml"))
            let name = try await run()
            #expect(name.status == 2)
            #expect(
                name.errors.contains("policies cannot be a bundle: the name `a b.yaml` is not possible in a bundle"))
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o644], ofItemAtPath: folder.appendingPathComponent("policies.key").path)
            let open = try await run()
            #expect(open.status == 2)
            #expect(open.errors.contains("chmod 600"))
            try FileManager.default.removeItem(at: folder.appendingPathComponent("policies"))
            #expect(try await run().status == 2)
        }
    }

    @Test(
        "Options that do not go together are refused with what to do",
        arguments: [
            ("--bundle-key a.pub", "--bundle-key is for policies from a URL"),
            ("--bundle-folder a --bundle-ca b", "--bundle-folder and --bundle-ca is for policies from a URL"),
            (
                "--policies https://policies.example.com/a",
                "give the public key that verifies it with --bundle-key FILE"
            ),
            ("--policies http://policies.example.com/a --bundle-key a.pub", "http is for this machine alone"),
            ("--policies https://user:word@example.com/a --bundle-key a.pub", "without a user and a password"),
            ("--policies HTTPS://example.com/a --bundle-key a.pub", "not a URL that can be called"),
            ("--policies http://localhost/a --production --bundle-key a.pub", "use https"),
            ("--policies https://localhost/a --bundle-key missing.pub", "cannot open missing.pub"),
            ("--policies https://localhost/a --bundle-key p.pub --bundle-ca p.pub", "p.pub: it is not one or more"),
            ("--policies https://localhost/a --bundle-key bad.pub", "bad.pub is not a public key in PEM"),
            ("--policies https://localhost:1/a --bundle-key p.pub", "no policies: "),
            ("--policies https://localhost/a --bundle-interval 0s", "expected a duration from 1s to 1d"),
        ])
    func options(_ options: String, _ words: String) async throws {
        try await withTemporaryFolder { folder in
            try await BundlePolicies.makeKeys(in: folder)
            try FileManager.default.copyItem(
                at: folder.appendingPathComponent("policies.pub"), to: folder.appendingPathComponent("p.pub"))
            try Data("no key".utf8).write(to: folder.appendingPathComponent("bad.pub"))
            let arguments = ["serve", "--listen", "127.0.0.1:0", "--state", "memory", "--keys", "keys"]
            let result = try await AssayProcess(
                arguments + options.split(separator: " ").map(String.init),
                environment: ["XDG_STATE_HOME": folder.path], folder: folder
            ).result()
            #expect(result.status == 2)
            #expect(result.errors.contains(words), "\(result.errors)")
        }
    }
}

/// Policies and keys for bundles.
enum BundlePolicies {
    static func text(apps: Int) -> String {
        let list = (0..<apps).map {
            "      - {id: \"1:1234567890:ios:a\($0)\", providers: {debug: {tokens: [{name: a, token: \"file:token\"}]}}}\n"
        }
        return """
            # é
            projects:
              - number: 1234567890
                id: example-project
                apps:

            """ + list.joined()
    }

    /// Makes `policies.key` and `policies.pub`.
    static func makeKeys(in folder: URL) async throws {
        let made = try await AssayProcess.run("policy", "bundle", "keygen", "policies.key", folder: folder)
        try #require(made.status == 0, "\(made.errors)")
        try Data(made.output.utf8).write(to: folder.appendingPathComponent("policies.pub"))
    }
}
