internal import AssayCore

/// The values that a demand on one fact leaves, as far as that can be told without evidence.
///
/// It errs on one side only: what it says of a demand is true, and there are demands of which it says nothing.
struct FactRange {
    /// So many values are looked at one by one.
    private static let valueLimit = 64

    private struct Bound {
        let value: ComparableFact
        let isIncluded: Bool
    }

    private let tests: [FactTest]
    /// Whether the fact must be missing.
    private let wantsAbsence: Bool
    /// All values that fulfil the demand; nil where they cannot be listed.
    private let values: [ComparableFact]?
    private let lower: Bound?
    private let upper: Bound?

    init(_ condition: FactMatcher.Condition) {
        let tests = condition.tests
        let lower = Self.lower(tests)
        let upper = Self.upper(tests)
        self.tests = tests
        self.lower = lower
        self.upper = upper
        wantsAbsence = tests.contains { if case .known(false) = $0 { true } else { false } }
        values = Self.candidates(tests, condition.type, lower, upper)?.filter { value in
            tests.allSatisfy { $0.holds(for: value) }
        }
    }

    /// Whether nothing fulfils the demand: neither a value nor a missing one.
    var isEmpty: Bool {
        if wantsAbsence { return !tests.allSatisfy { $0.holds(for: nil) } }
        if let values { return values.isEmpty }
        guard let lower, let upper else { return false }
        return upper.value < lower.value
            || upper.value == lower.value && !(upper.isIncluded && lower.isIncluded)
    }

    /// Whether whatever fulfils this demand fulfils another one on the same fact.
    func isWithin(_ other: FactRange) -> Bool {
        guard !tests.isEmpty else { return false }
        if wantsAbsence { return other.tests.allSatisfy { $0.holds(for: nil) } }
        return other.tests.allSatisfy(implies)
    }

    private func implies(_ test: FactTest) -> Bool {
        if let values { return values.allSatisfy { test.holds(for: $0) } }
        switch test {
        case .known(let expected): return expected
        case .among(_, true): return false
        case .among(let excluded, false):
            guard excluded.count <= Self.valueLimit else { return false }
            return excluded.allSatisfy { value in !tests.allSatisfy { $0.holds(for: value) } }
        case .below:
            guard let upper, let limit = Self.upper([test]) else { return false }
            return upper.value < limit.value
                || upper.value == limit.value && (limit.isIncluded || !upper.isIncluded)
        case .above:
            guard let lower, let limit = Self.lower([test]) else { return false }
            return limit.value < lower.value
                || lower.value == limit.value && (limit.isIncluded || !lower.isIncluded)
        }
    }

    /// The values that are possible at all; nil if they cannot be listed.
    private static func candidates(
        _ tests: [FactTest], _ type: FactType, _ lower: Bound?, _ upper: Bound?
    ) -> [ComparableFact]? {
        for case .among(let values, true) in tests where values.count <= valueLimit { return values }
        switch type {
        case .bool: return [.bool(false), .bool(true)]
        case .words(let words): return words.count <= valueLimit ? words.map { .text($0) } : nil
        default: break
        }
        guard let lower, let upper, lower.isIncluded, upper.isIncluded else { return nil }
        if lower.value == upper.value { return [lower.value] }
        guard case (.integer(let first), .integer(let last)) = (lower.value, upper.value) else { return nil }
        let (distance, isTooFar) = last.subtractingReportingOverflow(first)
        guard !isTooFar, distance < Int64(valueLimit) else { return nil }
        return first <= last ? (first...last).map { .integer($0) } : []
    }

    private static func upper(_ tests: [FactTest]) -> Bound? {
        tests.compactMap { test -> Bound? in
            guard case .below(let value, let orEqual) = test else { return nil }
            return bound(value, isIncluded: orEqual, next: -1)
        }.min { $0.value < $1.value || $0.value == $1.value && !$0.isIncluded && $1.isIncluded }
    }

    private static func lower(_ tests: [FactTest]) -> Bound? {
        tests.compactMap { test -> Bound? in
            guard case .above(let value, let orEqual) = test else { return nil }
            return bound(value, isIncluded: orEqual, next: 1)
        }.max { $0.value < $1.value || $0.value == $1.value && $0.isIncluded && !$1.isIncluded }
    }

    /// A bound; of whole numbers, the last one within it.
    private static func bound(_ value: ComparableFact, isIncluded: Bool, next step: Int64) -> Bound {
        guard !isIncluded, case .integer(let number) = value else { return Bound(value: value, isIncluded: isIncluded) }
        let (last, isTooFar) = number.addingReportingOverflow(step)
        return isTooFar
            ? Bound(value: value, isIncluded: false) : Bound(value: .integer(last), isIncluded: true)
    }
}
