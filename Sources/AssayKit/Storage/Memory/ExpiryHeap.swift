package import AssayCore

/// A binary heap of deadlines, the earliest first.
package struct ExpiryHeap<Payload> {
    package struct Item {
        package let expires: Instant
        package let payload: Payload

        package init(expires: Instant, payload: Payload) {
            self.expires = expires
            self.payload = payload
        }
    }

    private var items: [Item] = []

    package init() {}

    package var count: Int { items.count }
    package var earliest: Item? { items.first }

    package mutating func push(_ item: Item) {
        items.append(item)
        var child = items.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard items[child].expires < items[parent].expires else { return }
            items.swapAt(child, parent)
            child = parent
        }
    }

    package mutating func pop() -> Item? {
        guard let last = items.indices.last else { return nil }
        items.swapAt(0, last)
        let earliest = items.removeLast()
        sink(0)
        return earliest
    }

    /// Removes the other items, in linear time.
    package mutating func filter(_ isKept: (Payload) -> Bool) {
        items.removeAll { !isKept($0.payload) }
        for index in stride(from: items.count / 2 - 1, through: 0, by: -1) {
            sink(index)
        }
    }

    private mutating func sink(_ start: Int) {
        var parent = start
        while true {
            let left = 2 * parent + 1
            guard left < items.count else { return }
            let right = left + 1
            let child = right < items.count && items[right].expires < items[left].expires ? right : left
            guard items[child].expires < items[parent].expires else { return }
            items.swapAt(child, parent)
            parent = child
        }
    }
}
