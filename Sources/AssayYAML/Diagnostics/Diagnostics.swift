/// What is wrong, or questionable, in policy files: at least one problem, sorted by file, line and column.
public struct Diagnostics: Error, Sendable, Hashable, CustomStringConvertible {
    public let all: [Diagnostic]
    /// How many more problems were found and not kept; there may be others, because readers stop early then.
    public let omitted: Int

    /// How many of those that were kept are errors.
    public var errorCount: Int { all.count { $0.severity == .error } }

    /// Exactly one problem.
    package init(_ diagnostic: Diagnostic) {
        all = [diagnostic]
        omitted = 0
    }

    /// Several problems in any order; nil when there are none.
    package init?(_ diagnostics: [Diagnostic], omitted: Int = 0) {
        guard !diagnostics.isEmpty else { return nil }
        all = diagnostics.enumerated()
            .sorted { left, right in
                guard left.element.location != right.element.location else { return left.offset < right.offset }
                // A problem without a place concerns the whole and comes first.
                guard let leftPlace = left.element.location else { return true }
                guard let rightPlace = right.element.location else { return false }
                return leftPlace < rightPlace
            }
            .map(\.element)
        self.omitted = omitted
    }

    /// Each problem in full, one after the other.
    public var description: String {
        let listed = all.map(\.description).joined(separator: "\n")
        return omitted == 0 ? listed : "\(listed)\nand at least \(omitted) more"
    }
}
