internal import AssayCore

/// Which server serves which slots.
struct SlotMap: Sendable {
    private var owners = [ServerAddress?](repeating: nil, count: HashSlot.count)

    init() {}

    /// Reads an answer to `CLUSTER SLOTS`; nil for one of another form.
    ///
    /// - `server`: who answered; a server does not always know its own name.
    init?(_ reply: RedisReply, from server: ServerAddress) {
        guard let rows = reply.elements else { return nil }
        for row in rows {
            guard let parts = row.elements, parts.count >= 3, let first = parts[0].number, let last = parts[1].number,
                first >= 0, first <= last, last < HashSlot.count, let master = parts[2].elements, master.count >= 2,
                let port = master[1].number, (1...65_535).contains(port)
            else { return nil }
            let host = master[0].text ?? ""
            // A host of `?` is one that the server does not know yet.
            guard !host.isExactly("?") else { continue }
            let owner = ServerAddress(host: host.isEmpty ? server.host : host, port: Int(port))
            for slot in Int(first)...Int(last) { owners[slot] = owner }
        }
    }

    var servers: Set<ServerAddress> { Set(owners.compactMap { $0 }) }

    func owner(of slot: Int) -> ServerAddress? { owners.indices.contains(slot) ? owners[slot] : nil }

    func ranges(of server: ServerAddress) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        for slot in owners.indices where owners[slot] == server {
            if let last = ranges.last, last.upperBound == slot {
                ranges[ranges.count - 1] = last.lowerBound..<slot + 1
            } else {
                ranges.append(slot..<slot + 1)
            }
        }
        return ranges
    }

    mutating func move(_ slot: Int, to server: ServerAddress) {
        if owners.indices.contains(slot) { owners[slot] = server }
    }
}

/// What a server of a cluster says that does not serve a slot.
enum Redirection: Sendable {
    /// It is on another server from now on.
    case moved(Int, ServerAddress)
    /// It is on its way there: this once, the other one is asked.
    case ask(ServerAddress)

    /// Nil for any other error.
    init?(_ error: ServerError, from server: ServerAddress) {
        let words = error.text.split(onASCII: " ")
        guard words.count >= 3, let slot = Int(words[1]), (0..<HashSlot.count).contains(slot),
            let colon = words[2].utf8.lastIndex(of: UInt8(ascii: ":")),
            let port = Int(words[2][words[2].utf8.index(after: colon)...]), (1...65_535).contains(port)
        else { return nil }
        let host = String(words[2][..<colon])
        let target = ServerAddress(host: host.isEmpty ? server.host : host, port: port)
        switch error.kind {
        case .moved: self = .moved(slot, target)
        case .ask: self = .ask(target)
        default: return nil
        }
    }
}
