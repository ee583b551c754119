internal import NIOCore

/// Connections in the order in which they began to wait for their clients; each step costs the same however many there are.
struct IdleQueue {
    /// A place in the line. It stays valid, and means nothing, when the place was taken away.
    struct Ticket: Sendable, Hashable {
        fileprivate let number: UInt64
    }

    private struct Place {
        let channel: any Channel
        let since: NIODeadline
        var previous: UInt64?
        var next: UInt64?
    }

    private var places: [UInt64: Place] = [:]
    private var first: UInt64?
    private var last: UInt64?
    private var issued: UInt64 = 0

    /// Since when the first in the line waits.
    var oldest: NIODeadline? { first.flatMap { places[$0]?.since } }

    mutating func append(_ channel: any Channel, at now: NIODeadline) -> Ticket {
        issued &+= 1
        places[issued] = Place(channel: channel, since: now, previous: last, next: nil)
        if let last { places[last]?.next = issued } else { first = issued }
        last = issued
        return Ticket(number: issued)
    }

    mutating func remove(_ ticket: Ticket) {
        guard let place = places.removeValue(forKey: ticket.number) else { return }
        if let previous = place.previous { places[previous]?.next = place.next } else { first = place.next }
        if let next = place.next { places[next]?.previous = place.previous } else { last = place.previous }
    }

    /// Takes the first away, if it has waited for this long.
    mutating func popFirst(after time: TimeAmount, at now: NIODeadline) -> (any Channel)? {
        guard let first, let place = places[first], now - place.since >= time else { return nil }
        remove(Ticket(number: first))
        return place.channel
    }
}
