internal import CLibCrypto

/// Owns one reference to an OpenSSL key.
// A key is only read once it is made, and OpenSSL counts its references atomically.
final class KeyHandle: @unchecked Sendable {
    let pointer: OpaquePointer

    /// Takes over the caller's reference.
    init(owning pointer: OpaquePointer) {
        self.pointer = pointer
    }

    deinit {
        EVP_PKEY_free(pointer)
    }
}
