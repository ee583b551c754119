public import AssayKit

/// Why a sample cannot be verified at all: what is missing in it, or malformed.
public struct AppAttestSampleError: Error, Sendable, Equatable, CustomStringConvertible {
    @Exact public private(set) var description: String

    init(_ description: String) {
        self.description = description
    }
}
