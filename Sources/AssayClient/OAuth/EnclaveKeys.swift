#if canImport(CryptoKit)
internal import CryptoKit
internal import Foundation
internal import Security

/// Keys in the Secure Enclave, and CryptoKit's where there is none, as in simulators.
///
/// What is stored of a key in the enclave is useless on every other device. Another key is stored itself, in the
/// storage of the app: give it the Keychain.
public struct EnclaveKeys: InstanceKeys {
    private enum Kind {
        static let enclave: UInt8 = 1
        static let software: UInt8 = 2
    }

    /// Why there is no key.
    public struct Failure: Error, CustomStringConvertible {
        /// What could not be done.
        public let description: String
    }

    /// Makes a value that stands for this device.
    public init() {}

    /// A new key, which can be used after the device was unlocked once.
    public func makeKey() throws -> any InstanceKey {
        guard SecureEnclave.isAvailable else {
            let key = P256.Signing.PrivateKey()
            return SoftwareKey(key: key, stored: [Kind.software] + Array(key.rawRepresentation))
        }
        let access = SecAccessControlCreateWithFlags(
            nil, kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly, .privateKeyUsage, nil)
        guard let access else { throw Failure(description: "the key's access control cannot be made") }
        let key = try SecureEnclave.P256.Signing.PrivateKey(accessControl: access)
        return EnclaveKey(key: key, stored: [Kind.enclave] + Array(key.dataRepresentation))
    }

    /// The key that was stored.
    public func key(from stored: [UInt8]) throws -> any InstanceKey {
        let data = Data(stored.dropFirst())
        switch stored.first {
        case Kind.enclave:
            return EnclaveKey(key: try SecureEnclave.P256.Signing.PrivateKey(dataRepresentation: data), stored: stored)
        case Kind.software:
            return SoftwareKey(key: try P256.Signing.PrivateKey(rawRepresentation: data), stored: stored)
        default: throw Failure(description: "what is stored is no key")
        }
    }

    private struct EnclaveKey: InstanceKey {
        let key: SecureEnclave.P256.Signing.PrivateKey
        let stored: [UInt8]

        var publicPoint: [UInt8] { Array(key.publicKey.x963Representation) }

        func sign(_ message: [UInt8]) throws -> [UInt8] {
            Array(try key.signature(for: message).rawRepresentation)
        }
    }

    private struct SoftwareKey: InstanceKey {
        let key: P256.Signing.PrivateKey
        let stored: [UInt8]

        var publicPoint: [UInt8] { Array(key.publicKey.x963Representation) }

        func sign(_ message: [UInt8]) throws -> [UInt8] {
            Array(try key.signature(for: message).rawRepresentation)
        }
    }
}
#endif
