internal import CLibCrypto

/// HMAC with SHA-256 (RFC 2104) under one key, which is set up once.
public struct HMACSHA256: Sendable {
    /// The length of a code, in bytes.
    public static let byteCount = 32

    private let keyed: KeyedMAC

    /// An authenticator with a key of any length; RFC 2104 recommends at least 32 bytes of entropy.
    public init(key: some Collection<UInt8>) {
        keyed = withContiguousBytes(key) { KeyedMAC(key: $0) }
    }

    /// An authenticator under a secret key.
    public init(key: SecretBytes) {
        keyed = key.withUnsafeBytes { KeyedMAC(key: $0) }
    }

    /// The code of the concatenation of the parts; 32 bytes.
    public func authenticate(_ parts: ArraySlice<UInt8>...) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: Self.byteCount) { buffer, count in
            keyed.authenticate(parts, into: buffer)
            count = Self.byteCount
        }
    }

    /// Whether `code` is the full code of the concatenation of the parts; a shortened code is not.
    ///
    /// The comparison takes constant time.
    public func isValid(_ code: some Collection<UInt8>, for parts: ArraySlice<UInt8>...) -> Bool {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Self.byteCount) { expected in
            keyed.authenticate(parts, into: expected)
            return ConstantTime.equal(code, UnsafeBufferPointer(expected))
        }
    }

    /// The code as a secret of its own, for deriving keys.
    func secret(_ parts: [ArraySlice<UInt8>]) -> SecretBytes {
        SecretBytes(count: Self.byteCount) { keyed.authenticate(parts, into: $0) }
    }
}

/// A context that holds the key; each use works on a duplicate.
// The context is never used itself, only duplicated, which reads it. OpenSSL wipes the key when it is freed.
private final class KeyedMAC: @unchecked Sendable {
    private let template: OpaquePointer

    init(key: UnsafeBufferPointer<UInt8>) {
        template = MACMethod.hmac.newContext()
        // OpenSSL keeps pointers to names and values, so both are lent for the whole call.
        var digestName = Array("SHA2-256".utf8CString)
        // An empty buffer may have no address, which OpenSSL would read as "no key given".
        let isReady = withUnsafePointer(to: 0 as UInt8) { placeholder in
            OSSL_MAC_PARAM_DIGEST.withCString { parameterName in
                digestName.withUnsafeMutableBufferPointer { digestName in
                    let parameters = [
                        OSSL_PARAM_construct_utf8_string(parameterName, digestName.baseAddress, 0),
                        OSSL_PARAM_construct_end(),
                    ]
                    return EVP_MAC_init(template, key.baseAddress ?? placeholder, key.count, parameters) == 1
                }
            }
        }
        precondition(isReady, "OpenSSL offers no HMAC with SHA-256")
    }

    deinit {
        EVP_MAC_CTX_free(template)
    }

    func authenticate(_ parts: [ArraySlice<UInt8>], into output: UnsafeMutableBufferPointer<UInt8>) {
        guard let context = EVP_MAC_CTX_dup(template) else {
            preconditionFailure("no memory for an authentication code")
        }
        defer { EVP_MAC_CTX_free(context) }
        for part in parts {
            let outcome = part.withUnsafeBufferPointer { EVP_MAC_update(context, $0.baseAddress, $0.count) }
            precondition(outcome == 1, "OpenSSL's HMAC failed")
        }
        var written = 0
        let outcome = EVP_MAC_final(context, output.baseAddress, &written, output.count)
        precondition(outcome == 1 && written == output.count, "OpenSSL's HMAC failed")
    }
}

/// OpenSSL's HMAC method, fetched once in the lifetime of the process.
// A fetched method never changes, and OpenSSL counts its references atomically.
private struct MACMethod: @unchecked Sendable {
    static let hmac = MACMethod()

    private let pointer: OpaquePointer

    private init() {
        guard let fetched = EVP_MAC_fetch(nil, "HMAC", nil) else {
            preconditionFailure("OpenSSL offers no HMAC: its default provider is not loaded")
        }
        pointer = fetched
    }

    func newContext() -> OpaquePointer {
        guard let context = EVP_MAC_CTX_new(pointer) else {
            preconditionFailure("no memory for an authentication code")
        }
        return context
    }
}
