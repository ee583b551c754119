internal import AssayCore
internal import AssayKit

/// The name of a state for the tokens of its first minute.
///
/// A state that is new, or was restored from a copy, does not know what was used before it: tokens of an earlier state count as used.
/// Their times alone do not tell them apart, because tokens say whole seconds, and clocks of servers differ, or are
/// corrected. So tokens that were issued before the end of this minute are good only if they name the state.
package struct StateMark: Sendable {
    /// The claim `state`.
    let text: String
    private let end: Instant
    /// As much as the clocks of several servers may differ.
    static let tolerance = Duration.seconds(60)

    /// - Parameter beginning: since when the state is complete.
    init(beginning: Instant) {
        text = String(beginning.milliseconds, radix: 36)
        end = beginning + Self.tolerance
    }

    /// Whether a token that is issued at a time names the state.
    func isNamed(by issued: Instant) -> Bool { issued < end }
}
