// swift-format-ignore-file
// Keys of P-256, which are declared and never made.
public import Foundation
public import Security

@available(macOS 10.15, iOS 13.0, tvOS 13.0, watchOS 6.0, *)
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
@available(macOS 10.15, iOS 13.0, tvOS 13.0, watchOS 6.0, *)
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
