public import AssayCore

/// One value in the state store, read and replaced as a whole; of the writers that read one version, only one succeeds.
///
/// It is for rarely changed settings of up to 1 MiB. Every change is one atomic write, and concurrent changes do not
/// undo each other.
///
/// Every version is an entry of its own, which `insert` lets only one writer make. The newest comes first in the order
/// of the names, so that reading takes one step. Later writers empty older versions, which expire after an hour: if
/// they were removed at once, a slow writer could make the same version again.
public struct VersionedDocument: Sendable {
    let space: StateSpace

    /// Much longer than a call can take from reading to writing.
    private static let memory = Duration.seconds(3600)
    /// How often a change is tried.
    ///
    /// A try fails only when another writer succeeds, so many concurrent writers are possible.
    private static let attempts = 100

    /// - Parameter space: a namespace for this document only; see ``StateSpace/subspace(_:)``.
    public init(in space: StateSpace) {
        self.space = space
    }

    /// One version.
    public struct Reading: Sendable {
        /// 0 before the first write.
        public let version: UInt64
        /// The value of that version; nil when none was written yet.
        public let value: [UInt8]?

        /// What is read before the first write.
        public static var beginning: Reading { Reading(version: 0, value: nil) }
    }

    /// The newest version.
    ///
    /// - Throws: the store's error; ``Damaged``.
    public func read() async throws -> Reading {
        guard let newest = try await space.list(limit: 1).first else { return Reading(version: 0, value: nil) }
        guard let name = Hex.decode(newest.name), name.count == 8 else { throw damaged }
        return Reading(version: .max - UInt64(bigEndianBytes: name), value: newest.value)
    }

    /// Replaces the value that was read.
    ///
    /// False when another writer was faster: then read again.
    ///
    /// - `value`: not empty.
    public func write(_ value: [UInt8], after reading: Reading, now: Instant) async throws -> Bool {
        guard reading.version < .max else { throw damaged }
        let name = VersionedDocument.name(reading.version + 1)
        guard try await space.insert(name, value: value, expires: nil) else { return false }
        // A version that cannot be emptied now is emptied by the next writer.
        for old in (try? await space.list(after: name, limit: 4)) ?? [] where !old.value.isEmpty {
            try? await space.put(old.name, value: [], expires: now + VersionedDocument.memory)
        }
        return true
    }

    /// Changes the value atomically, and returns the new one that `change` makes.
    ///
    /// - `change`: receives the present value, and returns the new one, or nil to leave it unchanged. If
    ///   another writer was faster, it runs again on that writer's value.
    /// - Throws: the errors of `change` and of the store; `StatusCode.aborted` when others are faster every time.
    public func update<Value>(
        now: Instant, _ change: (_ present: [UInt8]?) throws -> (value: [UInt8]?, result: Value)
    ) async throws -> Value {
        for _ in 0..<VersionedDocument.attempts {
            try Task.checkCancellation()
            let reading = try await read()
            let (value, result) = try change(reading.value)
            guard let value else { return result }
            if try await write(value, after: reading, now: now) { return result }
        }
        throw CallFailure(.aborted, "Others are changing the same resources: try again.")
    }

    /// The error for a value that this service did not write.
    public var damaged: Damaged { Damaged(space: space.name) }

    private static func name(_ version: UInt64) -> String {
        Hex.encode((UInt64.max - version).bigEndianBytes)
    }

    /// The store has an entry there that this service did not write.
    public struct Damaged: Error, CustomStringConvertible {
        let space: String

        /// Names the namespace whose entry is damaged.
        public var description: String { "the state in '\(space)' is damaged" }
    }
}
