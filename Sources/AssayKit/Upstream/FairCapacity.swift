internal import AssayCore

/// Decides which requests may ask a server now, and which wait: a pure state machine.
///
/// Each peer has a share of the places. One that holds its share already, or is suspect, gets a further place only
/// while fewer than 32 of its app's are taken, so that a peer alone, such as an unknown proxy, has 32. Further places
/// are for peers within their share, and the last of them for peers that were verified before. A request without a
/// place waits in a queue of its peer; free places go to the queues in turn, those of a higher rank first.
struct FairCapacity<App: Hashable & Sendable>: Sendable {
    /// What decides between requests: the standing of the peer, as far as it is within its share.
    typealias Rank = Asker.Standing

    enum Entry: Hashable {
        case admitted
        /// It waits; if another one had to leave the queue for it, that one is refused.
        case waiting(displaced: UInt64?)
        case refused
    }

    /// How many places a peer holds before it is beyond its share.
    static var share: Int { 4 }
    /// How many may wait, of one peer and in all.
    static var waitingOfPeer: Int { 32 }
    static var waitingInAll: Int { 512 }

    private struct Line {
        let app: App
        let peer: PeerGroup
        var standing: Rank
        var numbers: [UInt64]
        /// When it had its last turn, or began.
        var turn: UInt64
    }

    private(set) var taken = 0
    private var takenOfApp: [App: Int] = [:]
    private var takenOfPeer: [PeerGroup: Int] = [:]
    private var lines: [Line] = []
    private(set) var waiting = 0
    private var turn: UInt64 = 0

    /// How many places may be taken by all, and by one app, before requests of a rank are no longer admitted.
    private static func limits(_ rank: Rank) -> (all: Int, app: Int) {
        switch rank {
        case .suspect: (64, 32)
        case .unknown: (80, 44)
        case .verified: (96, 48)
        }
    }

    private func rank(_ peer: PeerGroup, _ standing: Rank) -> Rank {
        takenOfPeer[peer, default: 0] < Self.share ? standing : .suspect
    }

    private func admits(_ rank: Rank, _ app: App) -> Bool {
        let limits = Self.limits(rank)
        return taken < limits.all && takenOfApp[app, default: 0] < limits.app
    }

    /// Asks for a place.
    ///
    /// - Parameters:
    ///   - number: names the request from now on.
    ///   - mayWait: whether it has the time to wait.
    mutating func enter(_ number: UInt64, _ app: App, _ asker: Asker, mayWait: Bool) -> Entry {
        let rank = rank(asker.peer, asker.standing)
        if admits(rank, app) {
            take(app, asker.peer)
            return .admitted
        }
        let ofPeer = waitingOf(asker.peer)
        guard mayWait, ofPeer < Self.waitingOfPeer else { return .refused }
        var displaced: UInt64?
        if waiting >= Self.waitingInAll {
            displaced = makeWay(rank, ofPeer)
            guard displaced != nil else { return .refused }
        }
        waiting += 1
        if let index = lines.firstIndex(where: { $0.peer == asker.peer && $0.app == app }) {
            lines[index].numbers.append(number)
            lines[index].standing = asker.standing
        } else {
            turn += 1
            lines.append(Line(app: app, peer: asker.peer, standing: asker.standing, numbers: [number], turn: turn))
        }
        return .waiting(displaced: displaced)
    }

    /// Gives a place back.
    ///
    /// Returns the requests that have one now.
    mutating func leave(_ app: App, _ peer: PeerGroup) -> [UInt64] {
        taken -= 1
        Self.lower(&takenOfApp, app)
        Self.lower(&takenOfPeer, peer)
        var admitted: [UInt64] = []
        while let index = next() {
            turn += 1
            lines[index].turn = turn
            take(lines[index].app, lines[index].peer)
            admitted.append(remove(0, fromLine: index))
        }
        return admitted
    }

    /// Removes a waiting request.
    ///
    /// Returns whether it did.
    mutating func abandon(_ number: UInt64) -> Bool {
        for (index, line) in lines.enumerated() {
            guard let place = line.numbers.firstIndex(of: number) else { continue }
            _ = remove(place, fromLine: index)
            return true
        }
        return false
    }

    // MARK: -

    /// The line whose turn it is.
    private func next() -> Int? {
        var best: (index: Int, rank: Rank)?
        for (index, line) in lines.enumerated() {
            let rank = rank(line.peer, line.standing)
            guard admits(rank, line.app) else { continue }
            // A higher rank goes first; of one rank, the line that had its turn longer ago.
            if let best, (best.rank, line.turn) > (rank, lines[best.index].turn) { continue }
            best = (index, rank)
        }
        return best?.index
    }

    /// Removes the last request of the longest queue of the lowest rank, if the new one has a higher right to wait.
    private mutating func makeWay(_ rank: Rank, _ ofPeer: Int) -> UInt64? {
        let counts = Dictionary(lines.map { ($0.peer, $0.numbers.count) }, uniquingKeysWith: +)
        let candidates = lines.enumerated().map { index, line in
            (index: index, rank: self.rank(line.peer, line.standing), count: counts[line.peer] ?? 0)
        }
        guard
            let worst = candidates.min(by: { $0.rank != $1.rank ? $0.rank < $1.rank : $0.count > $1.count }),
            worst.rank < rank || (worst.rank == rank && worst.count > ofPeer + 1)
        else { return nil }
        return remove(lines[worst.index].numbers.count - 1, fromLine: worst.index)
    }

    private func waitingOf(_ peer: PeerGroup) -> Int {
        lines.reduce(0) { $0 + ($1.peer == peer ? $1.numbers.count : 0) }
    }

    private mutating func take(_ app: App, _ peer: PeerGroup) {
        taken += 1
        takenOfApp[app, default: 0] += 1
        takenOfPeer[peer, default: 0] += 1
    }

    private mutating func remove(_ place: Int, fromLine index: Int) -> UInt64 {
        waiting -= 1
        let number = lines[index].numbers.remove(at: place)
        if lines[index].numbers.isEmpty { lines.remove(at: index) }
        return number
    }

    private static func lower<Key: Hashable>(_ counts: inout [Key: Int], _ key: Key) {
        let count = (counts[key] ?? 1) - 1
        counts[key] = count > 0 ? count : nil
    }
}
