internal import AssayCore
internal import AssayYAML

/// The names in records that a program knows, for queries that misspell one.
///
/// Reasons and methods may also be those of plugins that the program does not have; outcomes are all there are.
package struct RecordNames: Sendable {
    /// The outcomes, as records name them.
    package static let outcomes = ["challenged", "issued", "answered", "refused", "rejected", "error"]

    /// The codes of reasons, and the canonical statuses, which stand for a reason where there is none.
    package let reasons: [String]
    /// The names of methods.
    package let methods: [String]

    init(reasons: [String], methods: [String]) {
        self.reasons = reasons + StatusCode.allCases.map(\.rawValue)
        self.methods = methods
    }

    /// "did you mean `x`?", or all outcomes; nil for an outcome.
    package static func hint(forOutcome text: String) -> String? {
        outcomes.contains(exactly: text) ? nil : Spelling.hint(for: text, among: outcomes)
    }

    /// "did you mean `x`?" for a text that is no known name, but nearly one.
    package static func guess(_ text: String, among names: [String]) -> String? {
        names.contains(exactly: text) ? nil : Spelling.guess(for: text, among: names)
    }
}
