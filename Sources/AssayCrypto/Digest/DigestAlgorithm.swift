internal import CLibCrypto

/// A digest that signatures are made over.
public enum DigestAlgorithm: Sendable, Hashable, CaseIterable {
    /// SHA-256 (FIPS 180-4).
    case sha256
    /// SHA-384 (FIPS 180-4).
    case sha384

    /// The length of a digest, in bytes.
    public var byteCount: Int {
        switch self {
        case .sha256: 32
        case .sha384: 48
        }
    }

    /// OpenSSL's method for the digest, fetched once for the life of the process.
    var method: OpaquePointer {
        switch self {
        case .sha256: Self.sha256Method.pointer
        case .sha384: Self.sha384Method.pointer
        }
    }

    private static let sha256Method = FetchedDigest("SHA2-256")
    private static let sha384Method = FetchedDigest("SHA2-384")
}

/// A digest method that lives as long as the process.
// A fetched method never changes, and OpenSSL counts its references atomically.
private struct FetchedDigest: @unchecked Sendable {
    let pointer: OpaquePointer

    init(_ name: String) {
        guard let fetched = EVP_MD_fetch(nil, name, nil) else {
            // Nothing here could be decided without it, and no input leads here.
            preconditionFailure("OpenSSL offers no \(name): its default provider is not loaded")
        }
        pointer = fetched
    }
}
