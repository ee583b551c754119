/// A device that makes keys and signs with them: `DCAppAttestService` on Apple's systems, a simulated one in tests.
///
/// The private half of a key never leaves the device: the library knows its identifier only.
public protocol AttestingDevice: Sendable {
    /// Whether the device can attest keys at all.
    var isSupported: Bool { get }
    /// Makes a key, and returns its identifier: Base 64 of the SHA-256 of the public half.
    func generateKey() async throws(DeviceError) -> String
    /// Has the vendor certify a key, which is possible once for each.
    ///
    /// - Returns: the attestation object, in CBOR.
    func attestKey(_ keyID: String, clientDataHash: [UInt8]) async throws(DeviceError) -> [UInt8]
    /// Signs with a key that was attested.
    ///
    /// - Returns: the assertion, in CBOR.
    func generateAssertion(_ keyID: String, clientDataHash: [UInt8]) async throws(DeviceError) -> [UInt8]
}

/// The reason why a device made no evidence.
public struct DeviceError: Error, Sendable, CustomStringConvertible {
    /// The kinds of reasons (Apple, `DCError`).
    public enum Kind: Sendable, Hashable {
        /// The device cannot attest.
        case unsupported
        /// The key is not on the device, or was attested before.
        case invalidKey
        /// The device does not accept what it was given, as with a key of another device.
        case invalidInput
        /// Apple's server did not answer: the same key shall be tried later.
        case serverUnavailable
        /// Another error, which Apple does not explain.
        case failed
    }

    /// The kind of the reason.
    public let kind: Kind
    /// The system's own error.
    public let cause: (any Error)?

    /// Makes an error.
    public init(_ kind: Kind, cause: (any Error)? = nil) {
        self.kind = kind
        self.cause = cause
    }

    /// The kind, and the system's error.
    public var description: String { cause.map { "\(kind): \($0)" } ?? "\(kind)" }
}

#if canImport(DeviceCheck)
internal import DeviceCheck
internal import Foundation

/// This device, by Apple's `DCAppAttestService`.
public struct AppAttestDevice: AttestingDevice {
    /// Makes a value that stands for this device.
    public init() {}

    /// Whether the device can attest keys at all.
    public var isSupported: Bool { DCAppAttestService.shared.isSupported }

    /// Makes a key in the Secure Enclave.
    public func generateKey() async throws(DeviceError) -> String {
        do { return try await DCAppAttestService.shared.generateKey() } catch { throw DeviceError(system: error) }
    }

    /// Has Apple certify a key.
    public func attestKey(_ keyID: String, clientDataHash: [UInt8]) async throws(DeviceError) -> [UInt8] {
        do {
            return Array(
                try await DCAppAttestService.shared.attestKey(keyID, clientDataHash: Data(clientDataHash)))
        } catch { throw DeviceError(system: error) }
    }

    /// Signs with a key.
    public func generateAssertion(_ keyID: String, clientDataHash: [UInt8]) async throws(DeviceError) -> [UInt8] {
        do {
            return Array(
                try await DCAppAttestService.shared.generateAssertion(keyID, clientDataHash: Data(clientDataHash)))
        } catch { throw DeviceError(system: error) }
    }
}

extension DeviceError {
    init(system error: any Error) {
        let kind: Kind =
            switch (error as? DCError)?.code {
            case .featureUnsupported?: .unsupported
            case .invalidKey?: .invalidKey
            case .invalidInput?: .invalidInput
            case .serverUnavailable?: .serverUnavailable
            default: .failed
            }
        self.init(kind, cause: error)
    }
}
#endif
