import AssayTestSupport
import Foundation
import Glibc
import SwiftOverlayShims
import Testing

@testable import AssayClient

/// Disks that are full, folders that cannot be used, and files that something else has written.
@Suite("Disks")
struct DiskTests {
    /// Whether these tests may make a file system.
    static let mayMount: Bool = {
        guard let folder = try? mountedFolder() else { return false }
        unmount(folder)
        return true
    }()

    private struct NotMounted: Error {}

    /// A file system of 16 KB, in memory.
    private static func mountedFolder() throws -> String {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("assay-disk-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        guard Glibc.mount("tmpfs", folder.path, "tmpfs", 0, "size=16k") == 0 else {
            try FileManager.default.removeItem(at: folder)
            throw NotMounted()
        }
        return folder.path
    }

    private static func unmount(_ folder: String) {
        umount2(folder, Int32(MNT_DETACH))
        rmdir(folder)
    }

    private static func key(_ name: String) -> StorageKey {
        StorageKey(app: FakeToken.app, server: "https://assay.example.com", name: name)
    }

    @Test(
        "a full disk costs no token and no value that was there, and what was not saved is saved when there is room",
        .enabled(if: mayMount, "these tests may not mount a file system"))
    func full() async throws {
        let folder = try Self.mountedFolder()
        defer { Self.unmount(folder) }
        let storage = FileStorage(folder: folder)
        let scene = try ClientScene(storage: storage)
        let first = try await scene.appCheck.token()
        // Fills the disk to its last byte.
        let filler = "\(folder)/filler"
        FileManager.default.createFile(atPath: filler, contents: nil)
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: filler))
        while (try? handle.write(contentsOf: Data(repeating: 0, count: 512))) != nil {}
        try handle.close()
        #expect(throws: FileStorage.Failure.self) {
            try storage.save([UInt8](repeating: 1, count: 100), as: Self.key("x"))
        }

        let second = try await scene.appCheck.token(forcingRefresh: true)
        #expect(second.text != first.text)
        #expect(try await scene.appCheck.token().text == second.text)
        #expect(scene.notices.all.count == 1)
        #expect(scene.notices.all.first?.contains("No space left on device") == true)
        // The former value is whole, and a program that starts again uses it: it has not ended.
        #expect(try await scene.restarted().token().text == first.text)
        // Nothing is left of what did not fit.
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0 != "filler" }
        #expect(names == [Self.key(StoredToken.name).text])

        try FileManager.default.removeItem(atPath: filler)
        let third = try await scene.appCheck.token(forcingRefresh: true)
        #expect(try await scene.restarted().token().text == third.text)
    }

    @Test(
        "a folder that cannot be made costs no token, and one notice says so",
        arguments: ["/proc/assay-client", "/dev/null/assay-client", "/tmp/\(String(repeating: "a", count: 300))", ""])
    func noFolder(path: String) async throws {
        let scene = try ClientScene(storage: FileStorage(folder: path))
        let token = try await scene.appCheck.token()
        #expect(try await scene.appCheck.token().text == token.text)
        _ = try await scene.appCheck.token(forcingRefresh: true)
        #expect(scene.notices.all.count == 1)
    }

    @Test(
        "what a killed program has left of a value is gone with the next look at it",
        arguments: ["load", "save", "remove"])
    func leftBehind(by action: String) async throws {
        try await withTemporaryFolder { folder in
            let storage = FileStorage(folder: folder.path)
            let key = Self.key("token")
            try storage.save(Array("whole".utf8), as: key)
            let file = folder.appendingPathComponent("\(key.text).new")
            try Data("a sec".utf8).write(to: file)
            switch action {
            case "load": #expect(try storage.load(key) == Array("whole".utf8))
            case "save": try storage.save(Array("next".utf8), as: key)
            default: try storage.remove(key)
            }
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(names == (action == "remove" ? [] : [key.text]))
        }
    }

    @Test("a folder's users do not disturb each other, and leave one value for each key")
    func shared() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.path
            try await withThrowingTaskGroup(of: Void.self) { group in
                for user in 0..<8 {
                    group.addTask {
                        let storage = FileStorage(folder: path)
                        for round in 0..<20 {
                            try storage.save(Array(repeating: UInt8(user), count: 1000 + round), as: Self.key("token"))
                            let found = try #require(try storage.load(Self.key("token")))
                            #expect(Set(found).count == 1 && found.count >= 1000)
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: path) == [Self.key("token").text])
        }
    }

    /// What something else makes of the file with the token.
    enum Damage: Sendable, CaseIterable {
        case emptied, halved, overwritten, zeroed, enlarged, shared, replacedByAFolder, replacedByALink, removed
    }

    @Test(
        "a file that something else has written is not used, and the next token takes its place",
        arguments: Damage.allCases)
    func damaged(damage: Damage) async throws {
        try await withTemporaryFolder { folder in
            let storage = FileStorage(folder: folder.path)
            let scene = try ClientScene(storage: storage)
            let first = try await scene.appCheck.token()
            let file = folder.appendingPathComponent(Self.key(StoredToken.name).text)
            let bytes = try Data(contentsOf: file)
            let files = FileManager.default
            switch damage {
            case .emptied: try Data().write(to: file)
            case .halved: try bytes.prefix(bytes.count / 2).write(to: file)
            case .overwritten: try Data("[1, 2]".utf8).write(to: file)
            case .zeroed: try Data(count: bytes.count).write(to: file)
            case .enlarged: try (bytes + Data(repeating: 0x20, count: 70_000)).write(to: file)
            case .shared: try files.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
            case .replacedByAFolder, .replacedByALink, .removed: try files.removeItem(at: file)
            }
            switch damage {
            case .replacedByAFolder: try files.createDirectory(at: file, withIntermediateDirectories: false)
            case .replacedByALink:
                let other = folder.appendingPathComponent("other")
                try bytes.write(to: other)
                try files.setAttributes([.posixPermissions: 0o600], ofItemAtPath: other.path)
                try files.createSymbolicLink(at: file, withDestinationURL: other)
            case .emptied, .halved, .overwritten, .zeroed, .enlarged:
                try files.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
            case .shared, .removed: break
            }
            let second = try await scene.restarted().token()
            #expect(second.text != first.text)
            // A folder stays in its place. All else gives way to the new token.
            guard damage != .replacedByAFolder else { return }
            #expect(try await scene.restarted().token().text == second.text)
        }
    }
}
