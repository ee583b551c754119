/// A number for each of the latest or heaviest groups of peers, in bounded memory.
///
/// The table is divided into small sets. When a set is full, its smallest number is removed. The set of a group depends
/// on its network and on a secret of the process: all groups of a /48 share 16 sets, so that a party with many
/// addresses removes few entries of others. A removed group counts as unknown.
package struct PeerTable: Sendable {
    private struct Entry: Sendable {
        let name: Int
        var value: Int64
    }

    /// How many groups share a set.
    private static let ways = 8
    /// How many sets the groups of a network are spread over, at most.
    private static let spread = 16

    private let count: Int
    private var sets: [Int: [Entry]] = [:]

    /// - Parameter capacity: how many groups are remembered at most; each uses about 25 bytes after its first event.
    package init(capacity: Int) {
        count = max(capacity / Self.ways, 1)
    }

    /// The number of a group in a scope, such as an app; nil when it is not known.
    package func value(of peer: PeerGroup, in scope: ExactText = "") -> Int64? {
        let (set, name) = place(peer, scope)
        return sets[set]?.first { $0.name == name }?.value
    }

    /// Remembers a number.
    ///
    /// In a full set, a number that is less than all others is ignored.
    package mutating func set(_ value: Int64, of peer: PeerGroup, in scope: ExactText = "") {
        let (set, name) = place(peer, scope)
        var entries = sets[set, default: []]
        // Removed first, so that the write does not copy the array.
        sets[set] = nil
        defer { sets[set] = entries }
        if let index = entries.firstIndex(where: { $0.name == name }) {
            entries[index].value = value
        } else if entries.count < Self.ways {
            entries.append(Entry(name: name, value: value))
        } else if let least = entries.indices.min(by: { entries[$0].value < entries[$1].value }),
            entries[least].value <= value
        {
            entries[least] = Entry(name: name, value: value)
        }
    }

    /// Whether the table is empty and holds no memory.
    package var isEmpty: Bool { sets.isEmpty }

    /// Forgets all, and gives the memory back.
    package mutating func removeAll() {
        sets = [:]
    }

    /// The set of a group, and its key there.
    private func place(_ peer: PeerGroup, _ scope: ExactText) -> (set: Int, name: Int) {
        var hasher = Hasher()
        hasher.combine(scope)
        var network = hasher
        hasher.combine(peer)
        network.combine(peer.network)
        let name = hasher.finalize()
        let first = UInt(bitPattern: network.finalize())
        let step = UInt(bitPattern: name) >> 32 % UInt(min(Self.spread, max(count / Self.spread, 1)))
        return (Int((first % UInt(count) + step) % UInt(count)), name)
    }
}
