public import AssayCrypto

/// Why a simulated device could not do what it was asked.
public enum SimulationError: Error, Sendable, Equatable {
    /// The device holds no key with this identifier.
    case unknownKey(String)
    /// A key or signature could not be made.
    case crypto(CryptoError)

    static func wrapping<Result>(
        _ operation: () throws(CryptoError) -> Result
    ) throws(SimulationError) -> Result {
        do throws(CryptoError) {
            return try operation()
        } catch {
            throw .crypto(error)
        }
    }
}
