public import AssayClient
internal import AssayCrypto

/// Keys by the system's OpenSSL, for client attestations where there is no Secure Enclave.
///
/// What is stored is the private key itself, in PEM: give the app a storage that this user alone can read, as
/// `FileStorage` is.
public struct OpenSSLKeys: InstanceKeys {
    /// Why there is no key, or no signature.
    public struct Failure: Error, CustomStringConvertible {
        /// OpenSSL's words, without anything of the key.
        public let description: String
    }

    /// Makes a value that makes keys.
    public init() {}

    /// A new key.
    public func makeKey() throws -> any InstanceKey {
        do throws(CryptoError) {
            let key = try PrivateKey.generate(.ec(.p256))
            return try Key(key, stored: key.pem().withUnsafeBytes { Array($0) })
        } catch {
            throw Failure(description: "\(error)")
        }
    }

    /// The key that was stored.
    public func key(from stored: [UInt8]) throws -> any InstanceKey {
        do throws(CryptoError) {
            return try Key(PrivateKey(pem: stored), stored: stored)
        } catch {
            throw Failure(description: "\(error)")
        }
    }

    private struct Key: InstanceKey {
        let publicPoint: [UInt8]
        let stored: [UInt8]
        private let key: PrivateKey

        init(_ key: PrivateKey, stored: [UInt8]) throws(CryptoError) {
            guard case .ec(let publicKey) = key.publicKey, publicKey.curve == .p256 else {
                throw CryptoError(.unsupportedKey, "not a key of P-256")
            }
            self.key = key
            self.stored = stored
            publicPoint = publicKey.x963
        }

        func sign(_ message: [UInt8]) throws -> [UInt8] {
            do throws(CryptoError) {
                return try key.sign(message, as: .raw)
            } catch {
                throw Failure(description: "\(error)")
            }
        }
    }
}
