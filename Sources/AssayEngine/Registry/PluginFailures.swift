internal import AssayCore
internal import Synchronization

/// Why calls of plugins fail at present: what the kernel found out about plugins while it called them.
///
/// A breaker that opens sets a reason, and removes it when it closes.
final class PluginFailures: Sendable {
    private let reasons = Mutex<[ExactText: String]>([:])

    /// Says that the calls of a provider or consumer fail, or that they no longer do.
    ///
    /// - Parameter reason: in words for an operator; nil when calls succeed again.
    func set(_ reason: String?, of plugin: String) {
        reasons.withLock { $0[ExactText(plugin)] = reason.map { PlainText.line($0) } }
    }

    /// Why calls of a provider or consumer fail; nil when they do not.
    func reason(of plugin: String) -> String? {
        reasons.withLock { $0[ExactText(plugin)] }
    }
}
