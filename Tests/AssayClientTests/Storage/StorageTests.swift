import AssayTestSupport
import Foundation
import Testing

@testable import AssayClient

@Suite("Storage")
struct StorageTests {
    private static let key = StorageKey(app: FakeToken.app, server: "https://assay.example.com", name: "token")

    private static func check(_ storage: any ClientStorage) throws {
        let other = StorageKey(app: FakeToken.app, server: "https://assay.example.com", name: "key")
        #expect(try storage.load(key) == nil)
        try storage.remove(key)
        try storage.save([1, 2, 3], as: key)
        try storage.save([4], as: other)
        #expect(try storage.load(key) == [1, 2, 3])
        try storage.save([5, 6], as: key)
        #expect(try storage.load(key) == [5, 6])
        try storage.remove(key)
        #expect(try storage.load(key) == nil)
        #expect(try storage.load(other) == [4])
    }

    @Test("memory keeps each value by its key")
    func memory() throws {
        try Self.check(MemoryStorage())
    }

    @Test("a file is kept for each value, which its user alone may read, in a folder that is made")
    func files() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.appendingPathComponent("a/b/c").path
            try Self.check(FileStorage(folder: path))
            let storage = FileStorage(folder: path)
            try storage.save([7], as: Self.key)
            func mode(_ path: String) throws -> Int {
                try #require(
                    FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber
                ).intValue
            }
            #expect(try mode("\(path)/\(Self.key)") == 0o600)
            #expect(try mode(path) == 0o700)
            // Nothing is left of the files that were written on the way.
            #expect(try FileManager.default.contentsOfDirectory(atPath: path).allSatisfy { $0.count == 64 })
        }
    }

    @Test("a file that others may read, a link and a folder are not used")
    func strangeFiles() async throws {
        try await withTemporaryFolder { folder in
            let storage = FileStorage(folder: folder.path)
            let file = folder.appendingPathComponent(Self.key.text)
            try storage.save([1], as: Self.key)
            try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: file.path)
            #expect(throws: FileStorage.Failure.self) { try storage.load(Self.key) }
            // A new value takes its place.
            try storage.save([2], as: Self.key)
            #expect(try storage.load(Self.key) == [2])

            let secret = folder.appendingPathComponent("elsewhere")
            try FileManager.default.moveItem(at: file, to: secret)
            try FileManager.default.createSymbolicLink(at: file, withDestinationURL: secret)
            #expect(throws: FileStorage.Failure.self) { try storage.load(Self.key) }
            try FileManager.default.removeItem(at: file)
            try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
            #expect(throws: FileStorage.Failure.self) { try storage.load(Self.key) }
        }
    }

    @Test("a file larger than a value can be is not read")
    func largeFile() async throws {
        try await withTemporaryFolder { folder in
            let storage = FileStorage(folder: folder.path)
            try storage.save([UInt8](repeating: 1, count: 65_537), as: Self.key)
            #expect(throws: FileStorage.Failure.self) { try storage.load(Self.key) }
        }
    }

    @Test("keys differ by app, server and name, however these are put together")
    func keys() {
        let keys = [
            StorageKey(app: "a", server: "b", name: "c"), StorageKey(app: "ab", server: "", name: "c"),
            StorageKey(app: "a", server: "bc", name: ""), StorageKey(app: "", server: "ab", name: "c"),
        ]
        #expect(Set(keys.map(\.text)).count == keys.count)
        #expect(keys.allSatisfy { $0.text.utf8.allSatisfy { $0.hexValue != nil } && $0.text.utf8.count == 64 })
    }

    @Test("a program that starts again finds its token in the files")
    func restores() async throws {
        try await withTemporaryFolder { folder in
            let scene = try ClientScene(storage: FileStorage(folder: folder.path))
            let token = try await scene.appCheck.token()
            #expect(try await scene.restarted().token().text == token.text)
        }
    }
}
