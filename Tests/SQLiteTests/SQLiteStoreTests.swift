import AssayCore
import AssayKit
import AssayTesting
import Foundation
import Synchronization
import Testing

@testable import AssaySQLite

@Suite struct SQLiteStoreTests {
    @Test(arguments: [SQLiteStore.Options.Durability.powerLoss, .processCrash])
    func whatAWriteReturnedIsInTheFilesAtOnce(durability: SQLiteStore.Options.Durability) async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore(
            path: folder.file("live.sqlite"), clock: .system, options: .init(durability: durability))
        for round in 0..<5 {
            for number in 0..<20 {
                #expect(try await store.insert(StateKey("s", "\(round)-\(number)"), value: [1], expires: nil))
                #expect(try await store.advance(StateKey("s", "c"), to: UInt64(round * 20 + number + 1)))
            }
            // The files as the end of the process would leave them: nothing closed, nothing written back.
            for suffix in ["", "-wal", "-shm"] {
                try FileManager.default.copyItem(
                    atPath: folder.file("live.sqlite") + suffix, toPath: folder.file("\(round).sqlite") + suffix)
            }
            let crashed = try SQLiteStore(path: folder.file("\(round).sqlite"), clock: .system)
            #expect(try await crashed.list("s", after: nil, limit: 1000).count == (round + 1) * 20)
            #expect(try await crashed.advance(StateKey("s", "c"), to: UInt64(round * 20 + 20)) == false)
        }
    }

    /// SQLite's levels: 2 waits for the disk with every transaction, 1 with checkpoints alone.
    @Test(arguments: [(SQLiteStore.Options.Durability.powerLoss, 2), (.processCrash, 1)])
    func aWriteWaitsForTheDiskAsItsDurabilityDemands(durability: SQLiteStore.Options.Durability, level: Int) throws {
        let folder = try TemporaryFolder()
        let (writer, _, _, _) = try SQLiteStore.open(
            DatabaseFile(folder.file()), SQLiteStore.Options(durability: durability))
        let found = try writer.perform { try $0.integer("PRAGMA synchronous") }
        #expect(found == level)
    }

    @Test func aStoreThatIsDroppedFinishesWhatItTook() async throws {
        let folder = try TemporaryFolder()
        let key = StateKey("s", "a")
        func write() async throws -> Bool {
            let store = try SQLiteStore(path: folder.file(), clock: .system)
            async let inserted = store.insert(key, value: [], expires: nil)
            async let advanced = store.advance(key, to: 5)
            let (first, second) = try await (inserted, advanced)
            return first && second
        }
        #expect(try await write())
        let next = try SQLiteStore(path: folder.file(), clock: .system)
        #expect(try await next.get(key) == [])
        #expect(try await next.advance(key, to: 5) == false)
    }

    @Test func twoStoresOnOneFileAgree() async throws {
        let folder = try TemporaryFolder()
        let stores = try (0..<2).map { _ in try SQLiteStore(path: folder.file(), clock: .system) }
        let (inserted, advanced) = try await withThrowingTaskGroup(
            of: (Int, Bool, UInt64, Bool).self
        ) { group in
            for task in 0..<400 {
                group.addTask {
                    let store = stores[task % 2]
                    let (name, value) = (task / 4, UInt64(task / 2 + 1))
                    let inserted = try await store.insert(StateKey("s", "\(name)"), value: [], expires: nil)
                    let advanced = try await store.advance(StateKey("s", "c"), to: value)
                    return (name, inserted, value, advanced)
                }
            }
            return try await group.reduce(into: ([Int](), [UInt64]())) { found, result in
                if result.1 { found.0.append(result.0) }
                if result.3 { found.1.append(result.2) }
            }
        }
        #expect(inserted.sorted() == Array(0..<100))
        #expect(Set(advanced).count == advanced.count)
        #expect(advanced.max() == 200)
        for store in stores {
            #expect(try await store.list("s", after: nil, limit: 1000).count == 100)
        }
    }

    @Test func manyStoresOpenOneNewFileAtOnce() async throws {
        let folder = try TemporaryFolder()
        let inserts = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    let store = try SQLiteStore(path: folder.file(), clock: .system)
                    return try await store.insert(StateKey("s", "a"), value: [], expires: nil)
                }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(inserts == 1)
    }

    @Test func aWriteFailsWhileAnotherProcessKeepsTheFileLockedAndNotAfter() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore(
            path: folder.file(), clock: .system, options: .init(busyTimeout: .milliseconds(50)))
        let key = StateKey("s", "a")
        let lock = try await ForeignLock(folder.file())
        let error = await #expect(throws: SQLiteStoreError.self) {
            try await store.insert(key, value: [], expires: nil)
        }
        #expect(error?.code == .busy)
        #expect(try await store.get(key) == nil, "a reader does not wait for the lock")
        lock.release()
        #expect(try await store.insert(key, value: [], expires: nil))
    }

    @Test func refusesWritesWhenTooManyWaitAndCarriesOutTheOthers() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore(path: folder.file(), clock: .system, options: .init(busyTimeout: .seconds(60)))
        let lock = try await ForeignLock(folder.file())
        let value = [UInt8](repeating: 1, count: 1 << 20)
        let (taken, refused) = try await withThrowingTaskGroup(of: SQLiteStoreError.Code?.self) { group in
            for number in 0..<70 {
                group.addTask {
                    do throws(SQLiteStoreError) {
                        _ = try await store.commit([
                            .insert(StateKey("s", "\(number)"), value: value, expires: nil, isListed: true)
                        ])
                        return nil
                    } catch {
                        return error.code
                    }
                }
            }
            // The first answer comes while the file is locked: a refusal.
            let first = try await group.next()
            #expect(first == .overloaded)
            lock.release()
            return try await group.reduce(into: (0, 1)) { counts, code in
                #expect(code == nil || code == .overloaded)
                if code == nil { counts.0 += 1 } else { counts.1 += 1 }
            }
        }
        // 64 MiB may wait, names included.
        #expect(taken == 63)
        #expect(refused == 7)
        #expect(try await store.list("s", after: nil, limit: 100).count == taken)
    }

    @Test func writesThatWereAnsweredWaitNoMore() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore(
            path: folder.file(), clock: .system, options: .init(durability: .processCrash))
        // More in all than may wait at once.
        let rounds = SQLiteStore.Limits.waitingWrites / 1024 + 1
        for _ in 0..<rounds {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<1024 { group.addTask { _ = try await store.advance(StateKey("s", "c"), to: 1) } }
                try await group.waitForAll()
            }
        }
    }

    @Test func expiredEntriesAreRemovedByLaterWrites() async throws {
        let folder = try TemporaryFolder()
        let clock = StoppedClock()
        let store = try SQLiteStore(path: folder.file(), clock: clock.host)
        for number in 0..<100 {
            _ = try await store.insert(StateKey("s", "\(number)"), value: [], expires: Instant(seconds: 10))
        }
        _ = try await store.insert(StateKey("s", "lasting"), value: [], expires: Instant(seconds: 11))
        let other = try Connection(foreign: folder.file())
        func count() throws -> Int? { try other.integer("SELECT count(*) FROM entry") }
        #expect(try count() == 101)
        clock.set(Instant(seconds: 10))
        for _ in 0..<7 {
            _ = try await store.advance(StateKey("s", "c"), to: 1)
        }
        #expect(try count() == 1)
    }

    @Test func anExpiredEntryThatIsNotYetRemovedIsAbsent() async throws {
        let folder = try TemporaryFolder()
        let clock = StoppedClock()
        let store = try SQLiteStore(path: folder.file(), clock: clock.host)
        let key = StateKey("s", "last")
        _ = try await store.insert(key, value: [1], expires: Instant(seconds: 10))
        for number in 0..<40 {
            _ = try await store.insert(StateKey("s", "\(number)"), value: [], expires: Instant(seconds: 5))
        }
        clock.set(Instant(seconds: 10))
        #expect(try await store.get(key) == nil)
        #expect(try await store.list("s", after: nil, limit: 100) == [])
        // Those that expired earlier are removed first, and are more than one write removes.
        #expect(try await store.insert(key, value: [2], expires: nil))
        #expect(try await store.get(key) == [2])
    }

    @Test func aSweepRemovesAllExpiredEntriesAndNoOthers() async throws {
        let folder = try TemporaryFolder()
        let clock = StoppedClock()
        let store = try SQLiteStore(path: folder.file(), clock: clock.host)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<1200 {
                group.addTask {
                    let expires: Instant? = number < 1100 ? Instant(seconds: 10) : nil
                    try await store.put(StateKey("s", "\(number)"), value: [], expires: expires)
                }
            }
            try await group.waitForAll()
        }
        #expect(try await store.sweep() == 0)
        clock.set(Instant(seconds: 10))
        #expect(try await store.sweep() == 1100)
        #expect(try await store.list("s", after: nil, limit: 10_000).count == 100)
        #expect(try Connection(foreign: folder.file()).integer("SELECT count(*) FROM entry") == 100)
    }

    @Test func whatWasRemovedStaysUsedWhenTheClockIsSetBackAndMoreIsRemoved() async throws {
        let folder = try TemporaryFolder()
        let clock = StoppedClock()
        let store = try SQLiteStore(path: folder.file(), clock: clock.host)
        let used = StateKey("s", "used")
        #expect(try await store.insert(used, value: [], expires: Instant(seconds: 100)))
        clock.set(Instant(seconds: 100))
        #expect(try await store.sweep() == 1)
        clock.set(Instant(seconds: 0))
        try await store.put(StateKey("s", "other"), value: [], expires: Instant(seconds: 50))
        clock.set(Instant(seconds: 50))
        #expect(try await store.sweep() == 1)
        clock.set(Instant(seconds: 0))
        #expect(try await store.insert(used, value: [], expires: Instant(seconds: 100)) == false)
    }

    @Test func aFullFileRefusesWritesKeepsWhatItHasAndRecovers() async throws {
        let folder = try TemporaryFolder()
        let clock = StoppedClock()
        let store = try SQLiteStore(
            path: folder.file(), clock: clock.host, options: .init(maximumFileSize: 1 << 20))
        var written = 0
        var refusal: SQLiteStoreError?
        while refusal == nil, written < 100 {
            let value = [UInt8](repeating: UInt8(written), count: 100_000)
            do throws(SQLiteStoreError) {
                _ = try await store.commit([
                    .insert(
                        StateKey("s", "\(written)"), value: value, expires: Instant(seconds: 10), isListed: true)
                ])
                written += 1
            } catch {
                refusal = error
            }
        }
        #expect(refusal?.code == .diskFull)
        #expect((5..<11).contains(written))
        for number in 0..<written {
            #expect(
                try await store.get(StateKey("s", "\(number)")) == [UInt8](repeating: UInt8(number), count: 100_000))
        }
        #expect(try await store.get(StateKey("s", "\(written)")) == nil)
        clock.set(Instant(seconds: 10))
        let value = [UInt8](repeating: 1, count: 100_000)
        #expect(try await store.insert(StateKey("s", "\(written)"), value: value, expires: nil))
    }

    @Test func refusesWhatIsTooLargeWithoutEffect() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore(path: folder.file(), clock: .system)
        let long = String(repeating: "x", count: 1025)
        let large = [UInt8](repeating: 0, count: 1 << 20 + 1)
        let errors = [
            await #expect(throws: SQLiteStoreError.self) {
                try await store.insert(StateKey("s", long), value: [], expires: nil)
            },
            await #expect(throws: SQLiteStoreError.self) { try await store.advance(StateKey(long, "n"), to: 1) },
            await #expect(throws: SQLiteStoreError.self) { try await store.get(StateKey("s", long)) },
            await #expect(throws: SQLiteStoreError.self) { try await store.list("s", after: nil, limit: 10_001) },
            await #expect(throws: SQLiteStoreError.self) {
                try await store.put(StateKey("s", "n"), value: large, expires: nil)
            },
        ]
        #expect(errors.map { $0?.code } == Array(repeating: .tooLarge, count: errors.count))
        #expect(try await store.list("s", after: nil, limit: 10_000) == [])
    }

    @Test func operationsOnAClosedStoreThrow() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore(path: folder.file(), clock: .system)
        await store.close()
        await store.close()
        let write = await #expect(throws: SQLiteStoreError.self) {
            try await store.insert(StateKey("s", "a"), value: [], expires: nil)
        }
        let read = await #expect(throws: SQLiteStoreError.self) { try await store.get(StateKey("s", "a")) }
        #expect(write?.code == .closed)
        #expect(read?.code == .closed)
    }

    @Test func aCancelledTaskStillLearnsWhatItsWriteDid() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore(path: folder.file(), clock: .system)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await store.insert(StateKey("s", "a"), value: [1], expires: nil)
        }
        #expect(try await task.value)
        #expect(try await store.get(StateKey("s", "a")) == [1])
    }
}
