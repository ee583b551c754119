/// A place in a ``LinkedQueue``.
///
/// It stays valid, and has no effect, after the place was removed.
package struct QueueTicket: Sendable, Hashable {
    fileprivate let number: UInt64
}

/// A queue whose elements may leave from any place; each step costs the same however many there are.
package struct LinkedQueue<Element: Sendable>: Sendable {
    private struct Place: Sendable {
        let element: Element
        var previous: UInt64?
        var next: UInt64?
    }

    private var places: [UInt64: Place] = [:]
    private var firstNumber: UInt64?
    private var lastNumber: UInt64?
    private var issued: UInt64 = 0

    package init() {}

    package var count: Int { places.count }

    /// The element that has been in the queue for longest, and its place.
    package var first: (ticket: QueueTicket, element: Element)? {
        firstNumber.flatMap { number in places[number].map { (QueueTicket(number: number), $0.element) } }
    }

    package mutating func append(_ element: Element) -> QueueTicket {
        issued &+= 1
        let ticket = QueueTicket(number: issued)
        append(element, as: ticket)
        return ticket
    }

    /// Adds an element with the ticket that it has in another queue.
    package mutating func append(_ element: Element, as ticket: QueueTicket) {
        let number = ticket.number
        places[number] = Place(element: element, previous: lastNumber, next: nil)
        if let lastNumber { places[lastNumber]?.next = number } else { firstNumber = number }
        lastNumber = number
    }

    /// Removes an element, and returns it; nil when it was removed before.
    @discardableResult
    package mutating func remove(_ ticket: QueueTicket) -> Element? {
        guard let place = places.removeValue(forKey: ticket.number) else { return nil }
        if let previous = place.previous { places[previous]?.next = place.next } else { firstNumber = place.next }
        if let next = place.next { places[next]?.previous = place.previous } else { lastNumber = place.previous }
        return place.element
    }
}
