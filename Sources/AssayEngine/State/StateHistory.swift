package import AssayCore
package import AssayKit
internal import Logging
internal import Synchronization

/// What the state store remembers of its service: since when it is complete, and which keys it was used with.
///
/// A store that is new, or was restored from a copy, does not know what was used before. Everything that may be used
/// once and was issued before ``beginning(now:)`` counts as used.
package final class StateHistory: Sendable {
    /// A namespace that no plugin can have.
    static let space = "state"
    package static let beginningKey = StateKey(space, "since")
    /// How far in the future a state may begin.
    static let tolerance = StateMark.tolerance
    /// The entry that `assay state backup` writes into a copy.
    package static let copyKey = StateKey(space, "copied")

    private let host: PluginHost
    private let timeLimit: Duration
    /// One request asks the store, and those that come meanwhile wait for its answer.
    private let confirmations = SharedWork<ObjectIdentifier, Instant>()
    private let found = Mutex<String?>(nil)

    /// - Parameter timeLimit: how long the store may take to answer.
    init(_ host: PluginHost, timeLimit: Duration) {
        self.host = host
        self.timeLimit = timeLimit
    }

    /// What operators should know of a state that begins with this process, although everything works; nil for one that was there.
    var note: String? { found.withLock { $0 } }

    /// Since when the state is complete.
    ///
    /// The keys of a snapshot are compared with those that the state remembers, and are stored there before they are used.
    ///
    /// - Throws: ``KeyError`` when keys are missing that the state was used with; the error of the store, or one that
    ///   says that it took too long.
    nonisolated(nonsending) func confirm(_ keys: KeyPlan, now: Instant) async throws -> Instant {
        try await confirmations.value(for: ObjectIdentifier(keys)) { [timeLimit, host] in
            try await Deadline.run(timeLimit, clock: host.clock) {
                let oldest = UsedKeys.oldest(of: keys.ring)
                let (beginning, note) = try await Self.beginning(
                    host.store, now: now, keysSince: oldest, logger: host.logger)
                if let note { self.found.withLock { $0 = note } }
                try await UsedKeys(host.store).confirm(keys.ring, now: now)
                return beginning
            }
        }
    }

    /// Since when the state is complete; sets the beginning if the state is new or a copy.
    ///
    /// Exact to the millisecond, as the times of challenges are: one that was used in a lost state is refused although a new
    /// state began within the same second.
    ///
    /// - Parameter keysSince: when the oldest key was made, for the log.
    /// - Returns: the time, and what operators should know if it was set now.
    private static func beginning(
        _ store: any StateStore, now: Instant, keysSince: Instant? = nil, logger: Logger
    ) async throws -> (Instant, note: String?) {
        let start = now
        if try await store.get(copyKey) != nil {
            try await store.put(beginningKey, value: bytes(start), expires: nil)
            // This is the last step, so that the copy begins again after a crash before it.
            try await store.put(copyKey, value: nil, expires: nil)
            logger.warning(
                "the state is a copy that was restored: tokens and challenges that were issued before now and may be used only once are refused, because they may have been used; what was done after the copy was made is undone: revoke keys, deny devices and delete debug tokens again",
                metadata: ["since": "\(start)"])
            return (
                start,
                "the state is a copy that was restored: it is in use since \(start), and what was done after the copy was made is undone"
            )
        }
        if let known = try await read(store) {
            guard known > start + tolerance else { return (known, nil) }
            // Everything issued up to now counts as used, but not up to a time that may be months away.
            try await store.put(beginningKey, value: bytes(start), expires: nil)
            logger.error(
                "the state began in the future: the clock was ahead then, or is behind now; the beginning is set to now",
                metadata: ["began": "\(known)", "since": "\(start)"])
            return (start, nil)
        }
        guard try await store.insert(beginningKey, value: bytes(start), expires: nil) else {
            // Another process was faster.
            return (try await read(store) ?? start, nil)
        }
        let isLost = keysSince.map { $0 < start - tolerance } ?? false
        logger.log(
            level: isLost ? .warning : .notice,
            isLost
                ? "a new state begins with keys that are older: tokens and challenges that were issued before now and may be used only once are refused, because they may have been used, and what an earlier state had of denied devices, counters and debug tokens is not there"
                : "a new state begins: tokens and challenges that were issued before now and may be used only once are refused, because they may have been used",
            metadata: ["since": "\(start)"])
        return (start, newStateNote(since: start, isLost: isLost))
    }

    private static func newStateNote(since start: Instant, isLost: Bool) -> String {
        "the state is new: this server began it at \(start). It does not know what was used in an earlier state, nor the counters of devices, receipts, debug tokens, denied devices and levels that the earlier one had. "
            + (isLost
                ? "The signing keys are older than the state, so there was one: if that is not intended, check --state, or restore a copy"
                : "This is normal for a first start; otherwise check --state, or restore a copy")
    }

    /// The stored entries, read without changing anything: since when the state is complete (nil if it has not begun),
    /// and when it was copied (if the copy was not used yet).
    static func description(of store: any StateStore) async throws -> (beginning: Instant?, copied: String?) {
        let copied = try await store.get(copyKey).map { SafeText.of(String(decoding: $0, as: UTF8.self)) }
        return (try await read(store), copied)
    }

    private static func read(_ store: any StateStore) async throws -> Instant? {
        guard let value = try await store.get(beginningKey) else { return nil }
        guard value.count == 8 else { throw KeyError("the entries about the beginning of the state are damaged") }
        return Instant(milliseconds: Int64(bitPattern: UInt64(bigEndianBytes: value[...])))
    }

    package static func bytes(_ instant: Instant) -> [UInt8] {
        UInt64(bitPattern: instant.milliseconds).bigEndianBytes
    }
}

/// The description of a state store.
package struct StateDescription: Sendable, Equatable {
    /// Since when it remembers everything that was used; nil if no server has used it.
    package let completeSince: Instant?
    /// When it was copied (RFC 3339), if no server has used the copy; nil otherwise.
    @Exact package private(set) var copied: String?

    /// Reads the description, and changes nothing.
    ///
    /// - Throws: the error of the store; ``KeyError`` when the stored entries are damaged.
    package init(of store: any StateStore) async throws {
        let found = try await StateHistory.description(of: store)
        completeSince = found.beginning
        copied = found.copied
    }
}
