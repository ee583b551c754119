import AssayCore
import AssayKit
import AssayPolicy
import AssayYAML
import Foundation
import Testing

#if canImport(Glibc)
import Glibc
import SwiftOverlayShims
#else
import Darwin
#endif

@Suite("Folders of policies")
struct PolicyDirectoryTests {
    private static let app = "projects: [{number: 1, id: a, apps: [{id: '1:1:ios:a'}]}]"

    private func withFolder(_ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("assay-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder.path)
    }

    private func write(_ text: String, to file: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
    }

    @Test("More files than anybody keeps are refused, and none of them is read")
    func tooMany() throws {
        try withFolder { folder in
            for number in 0...1024 { try write("# \(number)", to: "\(folder)/\(number).yaml") }
            let error = try #require(throws: Diagnostics.self) { try PolicyDirectory(folder).files() }
            #expect(error.all.count == 1)
            #expect(error.description.contains("has more than 1024 policy files"))
            try FileManager.default.removeItem(atPath: "\(folder)/0.yaml")
            #expect(try PolicyDirectory(folder).files().count == 1024)
        }
    }

    @Test("Files that are larger together than the limit are refused, and not kept in memory")
    func tooLarge() throws {
        try withFolder { folder in
            try write(Self.app, to: "\(folder)/a.yaml")
            // A hole, which takes no room on the disk.
            try write("#", to: "\(folder)/b.yaml")
            #expect(truncate("\(folder)/b.yaml", 64 << 20) == 0)
            let error = try #require(throws: Diagnostics.self) { try PolicyDirectory(folder).files() }
            #expect(error.description.contains("b.yaml: the policies together are larger than 64 MiB"))
        }
    }

    @Test("A file in the place of the folder is refused with what to name")
    func file() throws {
        try withFolder { folder in
            try write(Self.app, to: "\(folder)/a.yaml")
            let error = try #require(throws: Diagnostics.self) { try PolicyDirectory("\(folder)/a.yaml").files() }
            #expect(error.description.contains("a.yaml: not a folder: policies are read together"))
        }
    }

    @Test("A pipe with a policy's name is refused at once, though nobody writes into it", .timeLimit(.minutes(20)))
    func pipe() throws {
        try withFolder { folder in
            #expect(mkfifo("\(folder)/a.yaml", 0o600) == 0)
            let error = try #require(throws: Diagnostics.self) { try PolicyDirectory(folder).files() }
            #expect(error.description.contains("not a regular file"))
        }
    }

    @Test(
        "The apps of the files that can be read are known, and nothing is said to be missing that another file may have"
    )
    func partial() throws {
        try withFolder { folder in
            try write(Self.app, to: "\(folder)/a.yaml")
            try write("", to: "\(folder)/b.yaml")
            let policies = PolicyDirectory(folder).read()
            #expect(policies.apps.map(\.identity.subject) == ["1:1:ios:a"])
            #expect(policies.problems?.all.count == 1)
            #expect(!policies.knowsAllProjects)
            #expect(throws: Diagnostics.self) { try PolicyDirectory(folder).load() }
        }
    }

    @Test("Policies in subfolders are not read, which is a warning; what is hidden is left out")
    func subfolders() throws {
        try withFolder { folder in
            try write(Self.app, to: "\(folder)/a.yaml")
            #expect(PolicyDirectory(folder).read().warnings?.all.contains { $0.message.contains("subfolder") } != true)
            for inner in ["b/c", "b/.d", ".e"] {
                try FileManager.default.createDirectory(
                    atPath: "\(folder)/\(inner)", withIntermediateDirectories: true)
                try write(Self.app, to: "\(folder)/\(inner)/inner.yml")
                try write("x", to: "\(folder)/\(inner)/notes.txt")
            }
            try write(Self.app, to: "\(folder)/b/inner.yaml")
            let policies = PolicyDirectory(folder).read()
            #expect(policies.apps.count == 1)
            let found = policies.warnings?.all.filter { $0.message.hasPrefix("is in a subfolder, so it is not read") }
            #expect(found?.map(\.file) == ["\(folder)/b/c/inner.yml", "\(folder)/b/inner.yaml"])
        }
    }

    @Test(
        "A file that could be taken for policies is not read, which is a warning with its cause",
        arguments: [
            ("b.json", "the names of policies end in"), (".b.yaml", "is hidden"), ("b_test.yaml", "has tests"),
            ("B_Test.YML", "has tests"),
        ])
    func leftOut(_ name: String, _ cause: String) throws {
        try withFolder { folder in
            try write(Self.app, to: "\(folder)/a.yaml")
            try write(Self.app, to: "\(folder)/\(name)")
            let policies = PolicyDirectory(folder).read()
            #expect(policies.apps.count == 1)
            let found = policies.warnings?.all.filter { $0.file == "\(folder)/\(name)" } ?? []
            #expect(found.count == 1)
            #expect(found.first?.message.contains(cause) == true, "\(found)")
        }
    }

    @Test(
        "Files that nobody takes for policies are left out without a word",
        arguments: ["b.schema.json", ".#a.yaml", "..data", ".b.txt", "notes.txt", "c_test.yaml", "plugins.yaml"])
    func unremarkable(_ name: String) throws {
        try withFolder { folder in
            try write(Self.app, to: "\(folder)/a.yaml")
            try write("tests: []", to: "\(folder)/\(name)")
            let found = PolicyDirectory(folder).read().warnings?.all.filter { $0.file == "\(folder)/\(name)" } ?? []
            #expect(found.isEmpty)
        }
    }

    @Test("The path of a folder may end with a slash; file names in messages have one")
    func slash() throws {
        try withFolder { folder in
            try write(Self.app, to: "\(folder)/a.yaml")
            #expect(try PolicyDirectory("\(folder)/").files().map(\.name) == ["\(folder)/a.yaml"])
        }
    }

    @Test("A folder that goes away, and one that comes, are changes; a file that is no policy is none")
    func fingerprint() throws {
        try withFolder { folder in
            let directory = PolicyDirectory("\(folder)/policies")
            let missing = directory.fingerprint
            try FileManager.default.createDirectory(atPath: directory.path, withIntermediateDirectories: false)
            let empty = directory.fingerprint
            #expect(empty != missing)
            try write("x", to: "\(directory.path)/notes.txt")
            #expect(directory.fingerprint == empty)
            try write(Self.app, to: "\(directory.path)/a.yaml")
            #expect(directory.fingerprint != empty)
        }
    }

    @Test("Tests are no policies: neither read as such, nor part of the revision or of the state of the files")
    func testFiles() throws {
        try withFolder { folder in
            try write(Self.app, to: "\(folder)/a.yaml")
            try write("projects: []", to: "\(folder)/test.yaml")
            let directory = PolicyDirectory(folder)
            let (revision, state) = (try directory.load().revision, directory.fingerprint)
            for name in ["a_test.yaml", "B_TEST.YML", "_test.yaml", "a.b_test.yaml"] {
                try write("tests: []", to: "\(folder)/\(name)")
            }
            // None of these is a test, and none is a policy.
            for name in ["a_test.yaml.bak", ".c_test.yaml", "a_test.json", "a_test"] {
                try write("neither", to: "\(folder)/\(name)")
            }
            #expect(try directory.load().revision == revision)
            #expect(directory.fingerprint == state)
            #expect(try directory.files().map(\.name) == ["\(folder)/a.yaml", "\(folder)/test.yaml"])
            #expect(
                try directory.testFiles().map(\.name)
                    == ["B_TEST.YML", "_test.yaml", "a.b_test.yaml", "a_test.yaml"].map { "\(folder)/\($0)" })
            try write("", to: "\(folder)/d_test.yaml")
            let error = try #require(throws: Diagnostics.self) { try directory.testFiles() }
            #expect(error.description.contains("d_test.yaml: the file is empty"))
        }
    }

    @Test("A folder of tests alone has no policy, and one without tests has none")
    func onlyTests() throws {
        try withFolder { folder in
            try write("tests: []", to: "\(folder)/a_test.yaml")
            let error = try #require(throws: Diagnostics.self) { try PolicyDirectory(folder).files() }
            #expect(error.description.contains("has no policy"))
            try FileManager.default.moveItem(atPath: "\(folder)/a_test.yaml", toPath: "\(folder)/atest.yaml")
            #expect(try PolicyDirectory(folder).testFiles().isEmpty)
        }
    }
}
