import AssayCore
import AssayKit
import Foundation
import Testing

@testable import AssaySQLite

#if canImport(Glibc)
import Glibc
import SwiftOverlayShims
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

@Suite struct OpeningTests {
    @Test func makesItsFilesForTheirOwnerAlone() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore(path: folder.file("new/state.sqlite"), clock: .system)
        _ = try await store.insert(StateKey("s", "a"), value: [], expires: nil)
        #expect(try folder.permissions("new") == 0o700)
        for suffix in ["", "-wal", "-shm"] {
            #expect(try folder.permissions("new/state.sqlite" + suffix) == 0o600)
        }
    }

    @Test func leavesThePermissionsOfAnExistingFile() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write([])
        try folder.permit(0o640, "state.sqlite")
        _ = try SQLiteStore(path: path, clock: .system)
        #expect(try folder.permissions("state.sqlite") == 0o640)
    }

    @Test(arguments: [
        ("", SQLiteStoreError.Code.invalidPath), ("a\0b", .invalidPath),
        ("missing/folder/state.sqlite", .directoryUnavailable), ("plain/state.sqlite", .directoryUnavailable),
        ("folder", .cannotOpen), ("folder/", .cannotOpen),
    ])
    func refusesAPathThatCannotBeAFile(path: String, code: SQLiteStoreError.Code) throws {
        let folder = try TemporaryFolder()
        _ = try folder.write([1], to: "plain")
        try FileManager.default.createDirectory(atPath: folder.file("folder"), withIntermediateDirectories: false)
        #expect(openingError(path.isEmpty ? path : folder.file(path))?.code == code)
    }

    @Test func takesAPathForAPathAndNotForAURI() throws {
        let name = "file:assay-\(UUID().uuidString)?mode=memory"
        _ = try SQLiteStore(path: name, clock: .system)
        defer {
            for suffix in ["", "-wal", "-shm"] {
                try? FileManager.default.removeItem(atPath: "./" + name + suffix)
            }
        }
        #expect(FileManager.default.fileExists(atPath: "./" + name))
    }

    @Test(arguments: [
        Array("this is no database, but long enough to be asked whether it is one".utf8),
        [UInt8](repeating: 0, count: 8192), [UInt8](repeating: 0xFF, count: 8192), Array("SQLite format 3".utf8),
    ])
    func refusesAFileThatIsNoDatabaseAndLeavesItAsItIs(bytes: [UInt8]) throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(bytes)
        let error = openingError(path)
        #expect(error?.code == .notADatabase)
        #expect(error?.message.contains(path) == true)
        #expect(try [UInt8](Data(contentsOf: URL(fileURLWithPath: path))) == bytes)
    }

    @Test(arguments: [100, 4096, 4096 * 2, 4096 * 3])
    func refusesADamagedDatabase(offset: Int) async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore(path: folder.file(), clock: .system)
        _ = try await store.insert(StateKey("s", "a"), value: [1], expires: nil)
        _ = try await store.advance(StateKey("s", "a"), to: 1)
        await store.close()
        var bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: folder.file())))
        try #require(bytes.count > offset + 16)
        bytes.replaceSubrange(offset..<offset + 16, with: [UInt8](repeating: 0xEE, count: 16))
        _ = try folder.write(bytes)
        do throws(SQLiteStoreError) {
            // Damage to an index shows when the index is used.
            let damaged = try SQLiteStore(path: folder.file(), clock: .system)
            _ = try await damaged.commit([
                .insert(StateKey("s", "b"), value: [1], expires: Instant(seconds: 1), isListed: true)
            ])
            Issue.record("a damaged file was opened and written")
        } catch {
            #expect(error.code == .corrupt, "\(error)")
        }
    }

    @Test func refusesALaterFormatAndSaysWhatToDo() throws {
        let folder = try TemporaryFolder()
        _ = try SQLiteStore(path: folder.file(), clock: .system)
        try Connection(foreign: folder.file()).execute("PRAGMA user_version = 2")
        let error = openingError(folder.file())
        #expect(error?.code == .newerSchema)
        #expect(error?.message.contains("later release (format 2, this one knows up to 1)") == true)
    }

    @Test func refusesTheDatabaseOfAnotherProgramAndChangesNothing() throws {
        let folder = try TemporaryFolder()
        try Connection(foreign: folder.file()).execute("CREATE TABLE entry (a)")
        let before = try Data(contentsOf: URL(fileURLWithPath: folder.file()))
        #expect(openingError(folder.file())?.code == .foreignDatabase)
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder.file())) == before)
    }

    // Root may write everywhere: nothing to see there.
    @Test(.enabled(if: geteuid() != 0), arguments: ["new.sqlite", "state.sqlite"])
    func refusesAFolderThatCannotBeWritten(name: String) throws {
        let folder = try TemporaryFolder()
        _ = try SQLiteStore(path: folder.file("sub/state.sqlite"), clock: .system)
        try folder.permit(0o500, "sub")
        defer { try? folder.permit(0o700, "sub") }
        #expect(openingError(folder.file("sub/" + name))?.code == .readOnly)
    }

    @Test(.enabled(if: geteuid() != 0))
    func refusesAFileThatCannotBeWritten() throws {
        let folder = try TemporaryFolder()
        _ = try SQLiteStore(path: folder.file(), clock: .system)
        try folder.permit(0o400, "state.sqlite")
        #expect(openingError(folder.file())?.code == .readOnly)
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self/status")))
    func refusesAReadOnlyFileSystem() {
        #expect([.readOnly, .directoryUnavailable].contains(openingError("/proc/state.sqlite")?.code))
    }

    @Test func refusesAFileThatHasNoRoomForItsTables() throws {
        let folder = try TemporaryFolder()
        #expect(openingError(folder.file(), options: .init(maximumFileSize: 4096))?.code == .diskFull)
        #expect(openingError(folder.file()) == nil, "and opens it when there is room")
    }

    @Test func aNameThatMeansMemoryElsewhereIsNoFile() async {
        let error = await #expect(throws: StateStoreOpeningError.self) {
            _ = try await SQLiteStore.open(":memory:", host: StorageHost())
        }
        #expect(error.map { "\($0)".contains("`memory`") } == true)
        #expect(access(":memory:", F_OK) != 0)
    }

    @Test func aURLIsNoPath() async throws {
        let folder = try TemporaryFolder()
        let path = "//\(folder.file())"
        let error = await #expect(throws: StateStoreOpeningError.self) {
            _ = try await SQLiteStore.open(path, host: StorageHost())
        }
        #expect(error.map { "\($0)".contains("without //") } == true)
        #expect(access(path, F_OK) != 0)
    }
}
