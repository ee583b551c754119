internal import AssayKit

/// One value in the state store that is read whole and replaced whole, by one of those who saw the same version.
///
/// Every version is an entry of its own, which `insert` lets one writer make; the newest comes first in the order of the
/// names, so that reading takes one step. Older ones are emptied by whoever writes after them, and go an hour later: were
/// they gone at once, a writer that has seen the one before could make that version again.
struct VersionedDocument: Sendable {
    let space: String
    let store: any StateStore

    /// Much longer than a call can take from reading to writing.
    private static let memory = Duration.seconds(3600)

    struct Reading: Sendable {
        /// 0 when there is nothing yet.
        let version: UInt64
        let value: [UInt8]?
    }

    func read() async throws -> Reading {
        guard let newest = try await store.list(space, after: nil, limit: 1).first else {
            return Reading(version: 0, value: nil)
        }
        guard let name = Hex.decode(newest.name), name.count == 8 else { throw Damaged(space: space) }
        return Reading(version: .max - UInt64(bigEndianBytes: name), value: newest.value)
    }

    /// Puts a value in the place of the one that was read. False when another writer was faster: then read again.
    ///
    /// - Parameter value: not empty.
    func write(_ value: [UInt8], after reading: Reading, now: Instant) async throws -> Bool {
        guard reading.version < .max else { throw Damaged(space: space) }
        let name = VersionedDocument.name(reading.version + 1)
        guard try await store.insert(StateKey(space, name), value: value, expires: nil) else { return false }
        // What cannot be emptied now is emptied by the next writer.
        for old in (try? await store.list(space, after: name, limit: 4)) ?? [] where !old.value.isEmpty {
            try? await store.put(StateKey(space, old.name), value: [], expires: now + VersionedDocument.memory)
        }
        return true
    }

    private static func name(_ version: UInt64) -> String {
        Hex.encode((UInt64.max - version).bigEndianBytes)
    }

    /// The store holds something there that is no version.
    struct Damaged: Error, CustomStringConvertible {
        let space: String
        var description: String { "the state in '\(space)' is damaged" }
    }
}
