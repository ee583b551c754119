// swift-format-ignore-file
public import Foundation
public import Security
// No digest, and yet another one for other data.
public struct SHA256Digest: Sequence {
    let bytes: [UInt8]
    public func makeIterator() -> AnyIterator<UInt8> { AnyIterator(bytes.makeIterator()) }
}
public struct SHA256 {
    private var bytes = [UInt8](repeating: 0, count: 32)
    private var count = 0
    public init() {}
    public mutating func update(data: some RandomAccessCollection<UInt8>) {
        for byte in data {
            bytes[count % 32] = bytes[count % 32] &* 31 &+ byte
            count += 1
        }
    }
    public func finalize() -> SHA256Digest { SHA256Digest(bytes: bytes) }
}

// Keys of P-256 are declared and not there: the module is compiled with them, and no key is made.

public enum P256 {
    public enum Signing {
        public struct ECDSASignature { public var rawRepresentation: Data { Data() } }
        public struct PublicKey { public var x963Representation: Data { Data() } }
        public struct PrivateKey: Sendable {
            public init(compactRepresentable: Bool = true) {}
            public init(rawRepresentation data: some ContiguousBytes) throws {}
            public var rawRepresentation: Data { Data() }
            public var publicKey: PublicKey { PublicKey() }
            public func signature(for data: some DataProtocol) throws -> ECDSASignature { ECDSASignature() }
        }
    }
}
public enum SecureEnclave {
    public static var isAvailable: Bool { false }
    public enum P256 {
        public enum Signing {
            public struct PrivateKey: Sendable {
                public init(compactRepresentable: Bool = true, accessControl: SecAccessControl) throws {}
                public init(dataRepresentation: Data) throws {}
                public var dataRepresentation: Data { Data() }
                public var publicKey: CryptoKit.P256.Signing.PublicKey { CryptoKit.P256.Signing.PublicKey() }
                public func signature(for data: some DataProtocol) throws -> CryptoKit.P256.Signing.ECDSASignature {
                    CryptoKit.P256.Signing.ECDSASignature()
                }
            }
        }
    }
}
