internal import AssayCrypto
public import AssayEngine
public import AssayServices
internal import Synchronization

extension KeyStore {
    /// Keys that end with the process, with signing keys that all such stores of the process have in common.
    ///
    /// To make an RSA key takes a fifth of a second, which is most of what a small test takes. The sealing keys are new in
    /// each store, and so are signing keys that are no RSA keys of 2048 bits. A test of two services with different signing
    /// keys takes ``ephemeral()`` for one of them.
    public static func pooled() -> KeyStore {
        .ephemeral { (bits, number) throws(CryptoError) in
            guard bits == 2048, number < 4 else { return nil }
            return try pool.withLock { (keys: inout [PrivateKey]) throws(CryptoError) in
                while keys.count <= number { keys.append(try PrivateKey.generate(.rsa(bits: 2048))) }
                return keys[number]
            }
        }
    }

    private static let pool = Mutex<[PrivateKey]>([])
}

extension KeySource where Self == KeyStore {
    /// Keys that end with the process, and share signing keys with others: `KeyStore.pooled()`.
    public static func pooled() -> KeyStore { KeyStore.pooled() }
}
