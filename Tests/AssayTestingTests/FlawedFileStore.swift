import AssayCore
import AssayKit
import Foundation
import Synchronization
import Testing

/// What is wrong with a ``FlawedFileStore``, and what it claims.
protocol FileFlaw: Sendable {
    static var survival: StorageSurvival { get }
    static var sharing: StorageSharing { get }
    static var flaw: FlawedFileStore<Self>.Flaw { get }
}

extension FileFlaw {
    static var survival: StorageSurvival { .processEnd }
    static var sharing: StorageSharing { .process }
}

enum NoFlaw: FileFlaw { static let flaw = FlawedFileStore<Self>.Flaw.none }
enum LinePerChange: FileFlaw { static let flaw = FlawedFileStore<Self>.Flaw.linePerChange }
enum TakesTornLine: FileFlaw { static let flaw = FlawedFileStore<Self>.Flaw.takesTornLine }
enum RefusesTornFile: FileFlaw { static let flaw = FlawedFileStore<Self>.Flaw.refusesTornFile }
enum DropsTheLastLine: FileFlaw { static let flaw = FlawedFileStore<Self>.Flaw.dropsTheLastLine }
enum WritesAtClose: FileFlaw { static let flaw = FlawedFileStore<Self>.Flaw.writesAtClose }
enum WritesLate: FileFlaw { static let flaw = FlawedFileStore<Self>.Flaw.writesLate }
enum WritesNothing: FileFlaw {
    static let flaw = FlawedFileStore<Self>.Flaw.writesNothing
    static let survival = StorageSurvival.powerLoss
}
enum IsAlone: FileFlaw {
    static let flaw = FlawedFileStore<Self>.Flaw.none
    static let sharing = StorageSharing.machine
}
enum SharesEntriesOnly: FileFlaw {
    static let flaw = FlawedFileStore<Self>.Flaw.sharesEntriesOnly
    static let sharing = StorageSharing.servers
}

/// A store in memory with a file, to which each operation appends a line; it is right, or wrong in one way.
final class FlawedFileStore<Wrong: FileFlaw>: StateStorePlugin {
    enum Flaw: Sendable {
        case none, linePerChange, takesTornLine, refusesTornFile, dropsTheLastLine
        case writesAtClose, writesLate, writesNothing, sharesEntriesOnly
    }

    struct Broken: Error {}

    static var descriptor: StorageDescriptor {
        StorageDescriptor(
            scheme: "flawed", summary: "A file.", survival: Wrong.survival, sharing: Wrong.sharing)
    }

    private struct File {
        var handle: FileHandle?
        var waiting = ""
    }

    private let entries: MemoryStore
    private let counters: MemoryStore
    private let file: Mutex<File>

    static func open(
        _ location: String, host: StorageHost
    ) async throws(StateStoreOpeningError) -> FlawedFileStore {
        do {
            return try await FlawedFileStore(location, host.clock)
        } catch {
            throw StateStoreOpeningError("\(error)")
        }
    }

    private init(_ path: String, _ clock: HostClock) async throws {
        entries = Wrong.flaw == .sharesEntriesOnly ? SharedEntries.store(at: path, clock) : MemoryStore(clock: clock)
        counters = Wrong.flaw == .sharesEntriesOnly ? MemoryStore(clock: clock) : entries
        if !FileManager.default.fileExists(atPath: path) {
            FileManager.default.createFile(atPath: path, contents: nil)
        }
        let handle = try #require(FileHandle(forUpdatingAtPath: path))
        var text = String(decoding: try handle.readToEnd() ?? Data(), as: UTF8.self)
        if !text.hasSuffix("\n"), !text.isEmpty {
            if Wrong.flaw == .refusesTornFile { throw Broken() }
            if Wrong.flaw != .takesTornLine {
                text = String(text[..<(text.lastIndex(of: "\n").map { text.index(after: $0) } ?? text.startIndex)])
                if Wrong.flaw == .dropsTheLastLine {
                    text = text.split(separator: "\n").dropLast().map { "\($0)\n" }.joined()
                }
                try handle.truncate(atOffset: UInt64(text.utf8.count))
            }
        }
        file = Mutex(File(handle: handle))
        for change in text.split(whereSeparator: { $0 == "\n" || $0 == ";" }) { try await apply(change) }
    }

    func commit(_ changes: [StateChange]) async throws -> Int? {
        try check()
        let isSplit = counters !== entries && changes.contains { if case .advance = $0 { true } else { false } }
        if isSplit {
            for (index, change) in changes.enumerated() {
                let store = if case .advance = change { counters } else { entries }
                guard try await store.commit([change]) == nil else { return index }
            }
        } else if let refused = try await entries.commit(changes) {
            return refused
        }
        let words = changes.map { change in
            switch change {
            case .insert(let key, let value, let expires, _): Self.words("E", key, value, expires)
            case .advance(let key, let value): Self.words("C", key, Array("\(value)".utf8), nil)
            }
        }
        try write(
            Wrong.flaw == .linePerChange ? words.map { "\($0)\n" }.joined() : words.joined(separator: ";") + "\n")
        return nil
    }

    func put(_ key: StateKey, value: [UInt8]?, expires: Instant?) async throws {
        try check()
        try await entries.put(key, value: value, expires: expires)
        try write(Self.words(value == nil ? "D" : "E", key, value ?? [], expires) + "\n")
    }

    func get(_ key: StateKey) async throws -> [UInt8]? {
        try check()
        return await entries.get(key)
    }

    func list(_ space: String, after name: String?, limit: Int) async throws -> [StateEntry] {
        try check()
        return await entries.list(space, after: name, limit: limit)
    }

    func close() async {
        file.withLock { file in
            try? file.handle?.write(contentsOf: Data(file.waiting.utf8))
            file.handle = nil
        }
    }

    private func check() throws { if file.withLock({ $0.handle == nil }) { throw Broken() } }

    private func write(_ line: String) throws {
        try file.withLock { file in
            guard let handle = file.handle else { throw Broken() }
            switch Wrong.flaw {
            case .writesNothing, .sharesEntriesOnly: break
            case .writesAtClose: file.waiting += line
            case .writesLate:
                try handle.write(contentsOf: Data(file.waiting.utf8))
                file.waiting = line
            default: try handle.write(contentsOf: Data(line.utf8))
            }
        }
    }

    private static func words(_ kind: String, _ key: StateKey, _ value: [UInt8], _ expires: Instant?) -> String {
        let fields = [key.space, key.name].map { Hex.encode(Array($0.utf8)) } + [Hex.encode(value)]
        return "\(kind),\(fields.joined(separator: ",")),\(expires.map { "\($0.milliseconds)" } ?? "-")"
    }

    private func apply(_ change: Substring) async throws {
        let fields = change.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        guard fields.count > 3 || Wrong.flaw != .takesTornLine else { return }
        let bytes = fields[1...3].map { Hex.decode($0.count.isMultiple(of: 2) ? $0 : String($0.dropLast())) ?? [] }
        let key = StateKey(String(decoding: bytes[0], as: UTF8.self), String(decoding: bytes[1], as: UTF8.self))
        let expires = fields.count > 4 ? Int64(fields[4]).map { Instant(milliseconds: $0) } : nil
        switch fields[0] {
        case "C":
            _ = try await counters.advance(key, to: UInt64(String(decoding: bytes[2], as: UTF8.self)) ?? 0)
        default: try await entries.put(key, value: fields[0] == "D" ? nil : bytes[2], expires: expires)
        }
    }
}

/// Entries that stores of one location have in common.
private enum SharedEntries {
    private static let stores = Mutex<[String: MemoryStore]>([:])

    static func store(at path: String, _ clock: HostClock) -> MemoryStore {
        stores.withLock { stores in
            if let store = stores[path] { return store }
            stores[path] = MemoryStore(clock: clock)
            return stores[path] ?? MemoryStore(clock: clock)
        }
    }
}
