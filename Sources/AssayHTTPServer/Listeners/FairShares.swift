internal import AssayCore

/// How many requests each peer and each connection had accepted lately, and which of those that wait gives its place to one
/// of somebody who had fewer.
struct FairShares {
    typealias Number = UInt64

    /// The part of a count that is forgotten in a period of a tenth of a second: the last second counts most.
    private static let loss = 0.1
    /// A count that is forgotten.
    private static let least = 0.1
    /// So many waiting requests are compared, so that a refusal costs the same however many there are.
    private static let candidates = 64

    /// So many times as much as another one must somebody have had accepted before he gives a place to it: clients that send
    /// alike do not displace each other.
    private static let margin = 1.5

    private var waiting: [Number: RequestSource] = [:]
    private var issued: Number = 0
    private var ofPeer: [PeerGroup: Double] = [:]
    private var ofConnection: [ObjectIdentifier: Double] = [:]

    /// A request waits from now on.
    mutating func accept(_ source: RequestSource) -> Number {
        issued &+= 1
        waiting[issued] = source
        ofPeer[source.peer, default: 0] += 1
        ofConnection[source.connection, default: 0] += 1
        return issued
    }

    /// A request does not wait any more; nil when it lost its place before.
    mutating func leave(_ number: Number) -> RequestSource? {
        waiting.removeValue(forKey: number)
    }

    /// Takes the place of a waiting request for another one; false when nobody had more accepted.
    ///
    /// - Parameter isAccepted: whether the other one counts already.
    mutating func displace(for source: RequestSource, whichIsAccepted isAccepted: Bool = false) -> Bool {
        let own = isAccepted ? 0.0 : 1.0
        let peer = Self.margin * (ofPeer[source.peer, default: 0] + own)
        let connection = Self.margin * (ofConnection[source.connection, default: 0] + own)
        var found: (number: Number, source: RequestSource, excess: Double)?
        for (number, other) in waiting.prefix(Self.candidates) {
            let isOfPeer = other.peer == source.peer
            // Connections are compared within a peer only: a client may open as many as it likes.
            let excess =
                isOfPeer
                ? ofConnection[other.connection, default: 0] - connection : ofPeer[other.peer, default: 0] - peer
            guard excess > 0, excess > found?.excess ?? 0 else { continue }
            found = (number, other, excess)
        }
        guard let found else { return false }
        waiting[found.number] = nil
        ofPeer[found.source.peer, default: 1] -= 1
        ofConnection[found.source.connection, default: 1] -= 1
        return true
    }

    /// Some periods are over.
    mutating func age(by periods: Double) {
        let rest = max(0, 1 - Self.loss * periods)
        ofPeer = ofPeer.compactMapValues { Self.aged($0 * rest) }
        ofConnection = ofConnection.compactMapValues { Self.aged($0 * rest) }
    }

    private static func aged(_ count: Double) -> Double? { count > least ? count : nil }
}
