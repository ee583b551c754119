/// Gathers problems while policy files are read, so that an operator sees all of them at once.
///
/// At most `limit` are kept; the others are counted, and a reader that has many more to look at may stop then.
package final class DiagnosticSink {
    private var kept: [Diagnostic] = []
    private var omitted = 0
    private let limit: Int

    package init(limit: Int = 100) {
        self.limit = max(1, limit)
    }

    /// Whether nothing has been reported.
    package var isEmpty: Bool { kept.isEmpty }

    /// Whether there were more problems than are kept, so that it is of no use to look for others.
    package var isOverfull: Bool { omitted > 0 }

    /// What was reported, sorted; nil when nothing was.
    package var diagnostics: Diagnostics? { Diagnostics(kept, omitted: omitted) }

    /// Takes a problem, which is not even made when there are too many already.
    package func report(_ diagnostic: @autoclosure () -> Diagnostic) {
        if kept.count < limit {
            kept.append(diagnostic())
        } else {
            omitted += 1
        }
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
