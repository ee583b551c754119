public import AssayKit

/// Why a metric cannot be declared.
public struct MetricError: Error, Sendable, Equatable, CustomStringConvertible {
    @Exact public private(set) var message: String

    init(_ message: String) {
        self.message = message
    }

    public var description: String { message }
}
