/// One value in the state store that is read whole and replaced whole, by one of those who saw the same version.
///
/// It is for what administrators change now and then, of up to 1 MiB: every change is one write, so that nothing is left
/// half done, and of two that are made at the same time none undoes the other.
///
/// Every version is an entry of its own, which `insert` lets one writer make; the newest comes first in the order of the
/// names, so that reading takes one step. Older ones are emptied by whoever writes after them, and go an hour later: were
/// they gone at once, a writer that has seen the one before could make that version again.
public struct VersionedDocument: Sendable {
    let space: StateSpace

    /// Much longer than a call can take from reading to writing.
    private static let memory = Duration.seconds(3600)
    /// How often a change is tried. Whoever fails lets another one through: that many may come at the same time.
    private static let attempts = 100

    /// - Parameter space: holds the document, and nothing else; see ``StateSpace/subspace(_:)``.
    public init(in space: StateSpace) {
        self.space = space
    }

    /// One version.
    public struct Reading: Sendable {
        /// 0 when there is nothing yet.
        public let version: UInt64
        public let value: [UInt8]?
    }

    /// The newest version.
    ///
    /// - Throws: what the store throws; ``Damaged``.
    public func read() async throws -> Reading {
        guard let newest = try await space.list(limit: 1).first else { return Reading(version: 0, value: nil) }
        guard let name = Hex.decode(newest.name), name.count == 8 else { throw damaged }
        return Reading(version: .max - UInt64(bigEndianBytes: name), value: newest.value)
    }

    /// Puts a value in the place of the one that was read. False when another writer was faster: then read again.
    ///
    /// - Parameter value: not empty.
    public func write(_ value: [UInt8], after reading: Reading, now: Instant) async throws -> Bool {
        guard reading.version < .max else { throw damaged }
        let name = VersionedDocument.name(reading.version + 1)
        guard try await space.insert(name, value: value, expires: nil) else { return false }
        // What cannot be emptied now is emptied by the next writer.
        for old in (try? await space.list(after: name, limit: 4)) ?? [] where !old.value.isEmpty {
            try? await space.put(old.name, value: [], expires: now + VersionedDocument.memory)
        }
        return true
    }

    /// Changes the value, whole or not at all, and returns what `change` makes of it.
    ///
    /// - Parameter change: is given the present value, and returns the one to put in its place, or nil to leave it. When
    ///   another writer was faster, it is run again on what that one left.
    /// - Throws: what `change` and the store throw; ``StatusCode/aborted`` when others are faster again and again.
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
        throw CallFailure(.aborted, "Others change the same resources at the same time: try again.")
    }

    /// What readers of a value throw that is none of theirs.
    public var damaged: Damaged { Damaged(space: space.name) }

    private static func name(_ version: UInt64) -> String {
        Hex.encode((UInt64.max - version).bigEndianBytes)
    }

    /// The store holds something there that nobody wrote.
    public struct Damaged: Error, CustomStringConvertible {
        let space: String

        public var description: String { "the state in '\(space)' is damaged" }
    }
}
