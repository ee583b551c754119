import AssayTestSupport
import Foundation
import SwiftOverlayShims
import Testing

@Suite("assay policy fmt")
struct PolicyFormatTests {
    private static let rough = "# apps\nprojects:\n- number:   1\n  id: a #first\n"
    private static let smooth = "# apps\nprojects:\n  - number: 1\n    id: a  # first\n"

    /// A folder `policies` with one rough file, a smooth one, a list of plugins, and what is no policy.
    private func withPolicies(_ body: (_ folder: URL, _ policies: URL) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let policies = folder.appendingPathComponent("policies")
            try FileManager.default.createDirectory(at: policies, withIntermediateDirectories: true)
            for (name, text) in [
                ("a.yaml", Self.rough), ("b.yml", Self.smooth), ("c.YAML", "a:   1"),
                ("plugins.yaml", "plugins:  []\n"),
                ("d.txt", "a:   1"), (".e.yaml", "a:   1"),
            ] {
                try Data(text.utf8).write(to: policies.appendingPathComponent(name))
            }
            try await body(folder, policies)
        }
    }

    private func text(_ folder: URL, _ name: String) throws -> String {
        try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
    }

    private let changed = ["policies/a.yaml", "policies/c.YAML", "policies/plugins.yaml"]

    @Test("The files of the folder are formatted in place and named, and a second time nothing changes")
    func folder() async throws {
        try await withPolicies { folder, policies in
            let result = try await AssayProcess.run("policy", "fmt", folder: folder)
            #expect(result.status == 0)
            #expect(result.lines == changed)
            #expect(result.errors == "")
            #expect(try text(policies, "a.yaml") == Self.smooth)
            #expect(try text(policies, "c.YAML") == "a: 1\n")
            #expect(try text(policies, "plugins.yaml") == "plugins: []\n")
            #expect(try text(policies, "d.txt") == "a:   1")
            #expect(try text(policies, ".e.yaml") == "a:   1")
            let again = try await AssayProcess.run("policy", "fmt", "policies", folder: folder)
            #expect(again.status == 0 && again.output == "" && again.errors == "")
            #expect(try FileManager.default.contentsOfDirectory(atPath: policies.path).count == 6)
        }
    }

    @Test("--check and --diff change nothing; --check fails when a file would change")
    func check() async throws {
        try await withPolicies { folder, policies in
            let check = try await AssayProcess.run("policy", "fmt", "--check", folder: folder)
            #expect(check.status == 1 && check.lines == changed)
            let diff = try await AssayProcess.run("policy", "fmt", "--diff", "policies/a.yaml", folder: folder)
            #expect(diff.status == 0)
            #expect(
                diff.output == """
                    --- policies/a.yaml
                    +++ policies/a.yaml
                    @@ -1,4 +1,4 @@
                     # apps
                     projects:
                    -- number:   1
                    -  id: a #first
                    +  - number: 1
                    +    id: a  # first

                    """)
            let both = try await AssayProcess.run(
                "policy", "fmt", "--diff", "--check", "policies/a.yaml", folder: folder)
            #expect(both.status == 1 && both.output == diff.output)
            let good = try await AssayProcess.run("policy", "fmt", "--check", "policies/b.yml", folder: folder)
            #expect(good.status == 0 && good.output == "")
            #expect(try text(policies, "a.yaml") == Self.rough)
        }
    }

    @Test("The diff is what `patch` makes the formatted file of", arguments: ["\n", "\r\n", "\r"])
    func patches(_ end: String) async throws {
        let lines =
            (0..<40).flatMap { ["k\($0):  \($0)", "", "", $0 % 7 == 0 ? "m\($0):   1" : "m\($0): 1"] } + [
                "z: |+", "   x", "", "", "",
            ]
        try await withTemporaryFolder { folder in
            let file = folder.appendingPathComponent("a.yaml")
            for text in [lines.joined(separator: end), "\(end)\(end)a: 1", "a:   1\(end)b: 2", "\(end)\(end)"] {
                try Data(text.utf8).write(to: file)
                let diff = try await AssayProcess.run("policy", "fmt", "--diff", "a.yaml", folder: folder)
                let expected = try await AssayProcess.run("policy", "fmt", "-", input: text)
                try Data(diff.output.utf8).write(to: folder.appendingPathComponent("a.diff"))
                let patch = ChildProcess()
                patch.executableURL = URL(fileURLWithPath: "/usr/bin/env")
                patch.arguments = ["patch", "--binary", "-s", "-o", "b.yaml", "a.yaml", "a.diff"]
                patch.currentDirectoryURL = folder
                try patch.run()
                patch.waitUntilExit()
                #expect(patch.terminationStatus == 0, "\(text.debugDescription)")
                #expect(try self.text(folder, "b.yaml") == expected.output, "\(text.debugDescription)")
            }
        }
    }

    @Test("Standard input becomes standard output")
    func input() async throws {
        let result = try await AssayProcess.run("policy", "fmt", "-", input: Self.rough)
        #expect(result.status == 0 && result.output == Self.smooth && result.errors == "")
        let check = try await AssayProcess.run("policy", "fmt", "--check", "-", input: Self.rough)
        #expect(check.status == 1 && check.output == "standard input\n")
        let json = try await AssayProcess.run("policy", "fmt", "--check", "--format", "json", "-", input: Self.smooth)
        #expect(json.status == 0 && json.output == #"{"file":"standard input","changed":false}"# + "\n")
        let wrong = try await AssayProcess.run("policy", "fmt", "-", input: "a: [")
        #expect(wrong.status == 1 && wrong.output == "" && wrong.errors.hasPrefix("standard input:1:5: did not find"))
    }

    @Test("A file with errors is reported as `policy check` does and left alone, and the others are formatted")
    func broken() async throws {
        try await withPolicies { folder, policies in
            let broken = "a:   1\na: 2\n"
            try Data(broken.utf8).write(to: policies.appendingPathComponent("c.YAML"))
            let result = try await AssayProcess.run("policy", "fmt", folder: folder)
            #expect(result.status == 1)
            #expect(result.lines == ["policies/a.yaml", "policies/plugins.yaml"])
            #expect(result.errors.hasPrefix("policies/c.YAML:2:1: a: duplicate key `a`\n"))
            #expect(try text(policies, "c.YAML") == broken)
            let json = try await AssayProcess.run("policy", "fmt", "--format", "json", folder: folder)
            #expect(json.status == 1 && json.errors == "")
            #expect(
                json.lines == [
                    #"{"file":"policies/a.yaml","changed":false}"#, #"{"file":"policies/b.yml","changed":false}"#,
                    #"{"file":"policies/c.YAML","error":"duplicate key `a`","line":2,"column":1,"path":"a","hint":null}"#,
                    #"{"file":"policies/plugins.yaml","changed":false}"#,
                ])
        }
    }

    @Test(
        "What cannot run exits with 2",
        arguments: [
            ["missing.yaml"], ["empty"], ["-", "policies"], ["-", "--format", "json"], ["--diff", "--format", "json"],
            ["pipe"],
        ])
    func cannotRun(_ arguments: [String]) async throws {
        try await withPolicies { folder, _ in
            try FileManager.default.createDirectory(
                at: folder.appendingPathComponent("empty"), withIntermediateDirectories: true)
            mkfifo(folder.appendingPathComponent("pipe").path, 0o600)
            let process = try AssayProcess(["policy", "fmt"] + arguments, folder: folder)
            let result = await process.result()
            #expect(result.status == 2 && result.output == "" && result.errors != "")
        }
    }

    @Test("A link stays a link, and the file keeps its mode and owner")
    func links() async throws {
        try await withPolicies { folder, policies in
            let target = folder.appendingPathComponent("target.yaml")
            try Data(Self.rough.utf8).write(to: target)
            let link = policies.appendingPathComponent("link.yaml")
            try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: "../target.yaml")
            chmod(target.path, 0o640)
            if geteuid() == 0 { chown(target.path, 4321, 1234) }
            var before = stat()
            var after = stat()
            stat(target.path, &before)
            let result = try await AssayProcess.run("policy", "fmt", "policies/link.yaml", folder: folder)
            #expect(result.status == 0 && result.lines == ["policies/link.yaml"])
            stat(target.path, &after)
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path) == "../target.yaml")
            #expect(try text(folder, "target.yaml") == Self.smooth)
            #expect(after.st_mode == before.st_mode && after.st_uid == before.st_uid && after.st_gid == before.st_gid)
        }
    }

    @Test("On a full disk the file stays as it was", .enabled(if: SmallDisk.isPossible))
    func fullDisk() async throws {
        try await SmallDisk.with(kibibytes: 64) { path in
            let folder = URL(fileURLWithPath: path)
            let text = (0..<4000).map { "k\($0):  1\n" }.joined()
            try Data(text.utf8).write(to: folder.appendingPathComponent("a.yaml"))
            SmallDisk.fill("\(path)/other")
            let result = try await AssayProcess.run("policy", "fmt", "a.yaml", folder: folder)
            #expect(result.status == 2 && result.output == "")
            #expect(result.errors.contains("a.yaml: cannot write: No space left on device"))
            #expect(try self.text(folder, "a.yaml") == text)
            #expect(try FileManager.default.contentsOfDirectory(atPath: path).sorted() == ["a.yaml", "other"])
        }
    }

    @Test("A file that may not be written is left alone", .enabled(if: geteuid() == 0))
    func readOnly() async throws {
        try await withPolicies { folder, policies in
            chmod(folder.path, 0o755)
            chmod(policies.path, 0o777)
            let process = try AssayProcess(
                ["policy", "fmt", "policies/a.yaml"], folder: folder, identity: .init(user: 4321, groups: [4321]))
            let result = await process.result()
            #expect(result.status == 2)
            #expect(result.errors.contains("policies/a.yaml: cannot write: Permission denied"))
            #expect(try text(policies, "a.yaml") == Self.rough)
        }
    }
}
