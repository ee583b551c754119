internal import AssayKit

/// Things that take each other's place at known times, to be looked up for every call.
struct Timeline<Element: Sendable>: Sendable {
    private let first: Element
    /// What follows it, in order of time.
    private let later: [(from: Instant, element: Element)]

    /// - Parameter entries: in order of time; the first one holds before its time, too. Nil when there are none.
    init?(_ entries: [(from: Instant, element: Element)]) {
        guard let first = entries.first else { return nil }
        self.first = first.element
        later = Array(entries.dropFirst())
    }

    func element(at now: Instant) -> Element {
        later.last { $0.from <= now }?.element ?? first
    }
}
