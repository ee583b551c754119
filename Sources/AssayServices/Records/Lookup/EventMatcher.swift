package import AssayCore

/// Which changes of the service itself are looked for: those that have all that is set.
package struct EventQuery: Sendable {
    /// The kinds, as records name them; empty for any.
    package var kinds: [ExactText] = []
    /// The first instant.
    package var since: Instant?
    /// The first instant that is not meant any more.
    package var until: Instant?
    /// The policy's name of the caller that asked for the change.
    @Exact package var caller: String?
    /// The most records.
    package var limit: Int

    /// Makes a query for any change.
    package init(limit: Int = 100) {
        self.limit = limit
    }
}

/// A query for changes, made ready to be compared with lines.
struct EventMatcher: LineMatcher {
    var findsDecisions: Bool { false }
    private let kinds: [[UInt8]]
    private let caller: [UInt8]?
    private let since: Int64
    private let until: Int64

    init(_ query: EventQuery) {
        kinds = query.kinds.map { DecisionMatcher.escaped($0.string) }
        caller = query.caller.map { DecisionMatcher.escaped($0) }
        since = query.since?.milliseconds ?? .min
        until = query.until?.milliseconds ?? .max
    }

    func mayMatch(_ block: AuditIndex.Block, _ filter: ArraySlice<UInt8>) -> Bool {
        func has(_ field: RecordFields.Field, _ text: [UInt8]) -> Bool {
            BlockFilter.has(BlockFilter.term(field, text[...]), in: filter)
        }
        return block.last >= since && block.first < until && has(.event, [])
            && (kinds.isEmpty || kinds.contains { has(.event, $0) }) && caller.map { has(.caller, $0) } ?? true
    }

    func place(of fields: RecordFields) -> DecisionMatcher.Place? {
        guard let event = fields[.event], let time = fields.time, time >= since, time < until,
            kinds.isEmpty || kinds.contains(where: { event.elementsEqual($0) }),
            caller.map({ fields[.caller]?.elementsEqual($0) ?? false }) ?? true
        else { return nil }
        return DecisionMatcher.Place(of: fields, at: time)
    }
}
