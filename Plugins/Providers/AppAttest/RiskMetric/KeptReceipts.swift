internal import AssayCore
internal import AssayKit

/// The receipts of one app's keys in the provider's corner of the state.
///
///     receipt/KEY          the receipt
///     refresh/TIME/KEY     stands for the wish to exchange it at that time; in the order of time
///     refreshing/KEY       a server exchanges the receipt now; expires
///
/// The first is authoritative, and the second is an index to it. They are two writes, and a crash may come between
/// them: an index entry that does not agree with its receipt is dropped when it is found, and a missing one is written
/// the next time that the key is used.
struct KeptReceipts: Sendable {
    /// How long what is known of a key is kept without use, after Apple answered that it has nothing recent.
    static let lifetime = Duration.seconds(90 * 86_400)
    /// How long a server is left at it.
    private static let claimLifetime = Duration.seconds(300)
    private static let index = "refresh/"

    let state: StateSpace
    let refreshInterval: Duration

    /// An entry of the index.
    struct Wish: Sendable, Hashable {
        @Exact private(set) var name: String
        let due: Instant
        @Exact private(set) var key: String
    }

    func receipt(of key: String) async throws -> KeptReceipt? {
        try await state.get("receipt/\(key)").flatMap(KeptReceipt.init(encoded:))
    }

    /// - Parameter end: until when it is kept, if that is later than the end of the receipt.
    func keep(_ kept: KeptReceipt, of key: String, until end: Instant? = nil) async throws {
        try await state.put("receipt/\(key)", value: kept.encoded, expires: max(kept.expires, end ?? kept.expires))
    }

    /// Has a receipt exchanged when it is due.
    ///
    /// This is asked with each use of a key and writes but once a receipt.
    func wish(_ kept: KeptReceipt, of key: String) async throws {
        let wish = wish(for: kept, key)
        guard try await state.get(wish.name) == nil else { return }
        // A receipt that has ended may be kept for its metric.
        try await state.put(wish.name, value: [], expires: max(kept.expires, wish.due + Self.lifetime))
    }

    /// The entry of the index for a receipt.
    func wish(for kept: KeptReceipt, _ key: String) -> Wish {
        let due = kept.due(refreshInterval: refreshInterval)
        let digits = String(UInt64(clamping: due.milliseconds), radix: 16)
        let name = "\(Self.index)\(String(repeating: "0", count: 16 - digits.utf8.count))\(digits)/\(key)"
        return Wish(name: name, due: due, key: key)
    }

    /// Up to `limit` due wishes, in the order of time, after one; the cost depends on those only.
    func due(at now: Instant, after last: Wish?, limit: Int) async throws -> [Wish] {
        let page = try await state.list(after: last?.name ?? Self.index, limit: limit)
        var wishes: [Wish] = []
        for entry in page {
            let parts = entry.name.split(onASCII: "/", maxSplits: 3)
            guard entry.name.starts(withExactly: Self.index), parts.count == 3,
                let milliseconds = UInt64(parts[1], radix: 16).flatMap(Int64.init(exactly:)),
                milliseconds <= now.milliseconds
            else { break }
            wishes.append(
                Wish(name: entry.name, due: Instant(milliseconds: milliseconds), key: String(parts[2])))
        }
        return wishes
    }

    func drop(_ wish: Wish) async throws {
        try await state.put(wish.name, value: nil)
    }

    /// Whether this server is the one to exchange a key's receipt now.
    func claim(_ key: String, at now: Instant) async throws -> Bool {
        try await state.insert("refreshing/\(key)", expires: now + Self.claimLifetime)
    }

    func release(_ key: String) async throws {
        try await state.put("refreshing/\(key)", value: nil)
    }
}
