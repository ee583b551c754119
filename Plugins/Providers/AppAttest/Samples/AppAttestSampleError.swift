/// Why a sample cannot be verified at all: what is missing in it, or malformed.
public struct AppAttestSampleError: Error, Sendable, Equatable, CustomStringConvertible {
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}
