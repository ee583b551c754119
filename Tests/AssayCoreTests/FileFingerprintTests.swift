import AssayCore
import Foundation
import Testing

@Suite("Fingerprints of files")
struct FileFingerprintTests {
    private func withFolder(_ body: (URL) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("assay-print-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder)
    }

    @Test("A file that nobody changes keeps its fingerprint; new content of the same size has another")
    func content() throws {
        try withFolder { folder in
            let file = folder.appendingPathComponent("a")
            try Data("one".utf8).write(to: file)
            let before = FileFingerprint(of: [file.path])
            #expect(FileFingerprint(of: [file.path]) == before)
            // Written aside and renamed, as editors do: another inode.
            try Data("two".utf8).write(to: file, options: .atomic)
            #expect(FileFingerprint(of: [file.path]) != before)
        }
    }

    @Test("Rights, and whether a file is there, are part of the fingerprint")
    func rights() throws {
        try withFolder { folder in
            let file = folder.appendingPathComponent("a")
            let missing = FileFingerprint(of: [file.path])
            #expect(!missing.hasFiles)
            try Data().write(to: file)
            let present = FileFingerprint(of: [file.path])
            #expect(present.hasFiles && present != missing)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
            let closed = FileFingerprint(of: [file.path])
            try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: file.path)
            #expect(FileFingerprint(of: [file.path]) != closed)
        }
    }

    @Test("Of a file behind a link to itself nobody knows whether it exists; of a missing one it is known")
    func unknown() throws {
        try withFolder { folder in
            let loop = folder.appendingPathComponent("loop").path
            try FileManager.default.createSymbolicLink(atPath: loop, withDestinationPath: "loop")
            let missing = folder.appendingPathComponent("missing").path
            #expect(FileFingerprint(of: [missing, "\(missing)/below", folder.path]).isKnown)
            #expect(!FileFingerprint(of: [missing, "\(loop)/plugins.yaml"]).isKnown)
        }
    }

    @Test("A link that is pointed to another file counts as a change, as Kubernetes swaps a ConfigMap")
    func links() throws {
        try withFolder { folder in
            let link = folder.appendingPathComponent("data").path
            for name in ["old", "new"] { try Data("same".utf8).write(to: folder.appendingPathComponent(name)) }
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "old")
            let before = FileFingerprint(of: [link])
            try FileManager.default.removeItem(atPath: link)
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "new")
            #expect(FileFingerprint(of: [link]) != before)
        }
    }

    @Test("The same file under two names of the same letters but other bytes has two fingerprints")
    func names() {
        #expect(FileFingerprint(of: ["/nowhere/\u{E9}"]) != FileFingerprint(of: ["/nowhere/e\u{301}"]))
        #expect(FileFingerprint(of: ["/nowhere/a", "/nowhere/b"]) != FileFingerprint(of: ["/nowhere/a"]))
    }
}
