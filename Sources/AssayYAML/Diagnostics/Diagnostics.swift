internal import AssayCore

/// Errors or warnings about policy files: at least one problem, sorted by file, line and column.
public struct Diagnostics: Error, Sendable, Hashable, CustomStringConvertible {
    /// The problems, sorted by file, line and column.
    public let all: [Diagnostic]
    /// How many more problems were found and not kept; there may be others, because readers stop early then.
    public let omitted: Int

    /// How many of the kept problems are errors.
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

/// Collects problems while policy files are read, so that an operator sees all of them at once.
///
/// At most `limit` are kept; the others are counted, and a reader that has many more to look at may stop then.
package final class DiagnosticSink {
    private var kept: [Diagnostic] = []
    private var omitted = 0
    private let limit: Int
    private var seen: Set<Finding> = []

    /// What is reported once, even if the value is used in several places.
    private struct Finding: Hashable {
        let location: SourceLocation
        let message: ExactText
    }

    package init(limit: Int = 100) {
        self.limit = max(1, limit)
    }

    /// Whether nothing has been reported.
    package var isEmpty: Bool { kept.isEmpty }

    /// Whether more problems were found than are kept, so that further checks are useless.
    package var isOverfull: Bool { omitted > 0 }

    /// What was reported, sorted; nil when nothing was.
    package var diagnostics: Diagnostics? { Diagnostics(kept, omitted: omitted) }

    /// Adds a problem, unless the same was reported of the same place.
    ///
    /// It is not even made when there are too many already.
    package func report(_ diagnostic: @autoclosure () -> Diagnostic) {
        guard kept.count < limit else {
            omitted += 1
            return
        }
        let diagnostic = diagnostic()
        if let location = diagnostic.location {
            let finding = Finding(location: location, message: ExactText(diagnostic.message))
            guard seen.insert(finding).inserted else { return }
        }
        kept.append(diagnostic)
    }

    package func report(_ diagnostics: Diagnostics) {
        for diagnostic in diagnostics.all { report(diagnostic) }
        omitted += diagnostics.omitted
    }

    /// Throws everything that was reported; returns when nothing was.
    package func throwIfAny() throws(Diagnostics) {
        if let diagnostics { throw diagnostics }
    }
}
