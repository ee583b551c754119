/// A signed message in the one form of Apple's receipts (RFC 5652, section 5), parsed but not verified.
///
/// Version 1, content of the type `id-data`, SHA-256, certificates, one signer with ECDSA, nothing else. Two forms are
/// read: definite lengths throughout, and Apple's, where the outer elements have indefinite lengths and the content
/// comes in parts of 1000 bytes. So no byte outside the signature can carry anything that this reader does not check.
public struct SignedData: Sendable {
    /// The most bytes that are read.
    public static let byteLimit = 64 * 1024
    /// The most certificates that are read.
    public static let certificateLimit = 8
    /// The size of the parts that Apple cuts the content into.
    static let partSize = 1000

    /// The content, its parts joined.
    public let content: [UInt8]
    /// The certificates, each in DER, in their order.
    public let certificates: [ArraySlice<UInt8>]
    /// The one signer.
    public let signer: SignerInformation

    /// Parses a message.
    public init(_ bytes: ArraySlice<UInt8>) throws(CMSError) {
        guard bytes.count <= Self.byteLimit else { throw CMSError(.tooLarge) }
        do {
            try self.init(reading: bytes)
        } catch let error as CMSError {
            throw error
        } catch {
            throw CMSError(.malformed, cause: error as? ASN1Error)
        }
    }

    private init(reading bytes: ArraySlice<UInt8>) throws {
        var reader = BERReader(bytes)
        let contentInfo = try reader.open(.sequence)
        try Self.expect(.cmsSignedData, &reader)
        let wrapper = try reader.open(.context(0))
        let signedData = try reader.open(.sequence)
        guard try reader.next(.integer).content.elementsEqual([1]) else { throw CMSError(.kindUnsupported) }
        var digests = try reader.next(.set).reader
        try CMSAlgorithm.readSHA256(&digests)
        try digests.finish()
        content = try Self.content(&reader)
        certificates = try Self.certificates(&reader)
        var signers = try reader.next(.set).reader
        guard !signers.isAtEnd else { throw CMSError(.signerCount) }
        let signer = try signers.next(.sequence)
        guard signers.isAtEnd else { throw CMSError(.signerCount) }
        self.signer = try SignerInformation(signer)
        try reader.close(signedData)
        try reader.close(wrapper)
        try reader.close(contentInfo)
        try reader.finish()
    }

    private static func expect(_ identifier: OID, _ reader: inout BERReader) throws {
        guard try OID(content: reader.next(.objectIdentifier).content) == identifier else {
            throw CMSError(.kindUnsupported)
        }
    }

    private static func content(_ reader: inout BERReader) throws -> [UInt8] {
        let encapsulated = try reader.open(.sequence)
        try expect(.cmsData, &reader)
        let wrapper = try reader.open(.context(0))
        let content = try reader.octetString(partSize: partSize, limit: byteLimit)
        try reader.close(wrapper)
        try reader.close(encapsulated)
        return content
    }

    private static func certificates(_ reader: inout BERReader) throws -> [ArraySlice<UInt8>] {
        let frame = try reader.open(.context(0))
        var certificates: [ArraySlice<UInt8>] = []
        while !reader.isAtEnd(of: frame) {
            guard certificates.count < certificateLimit else { throw CMSError(.tooLarge) }
            certificates.append(try reader.next(.sequence).encoded)
        }
        try reader.close(frame)
        return certificates
    }
}

extension SignedData {
    /// Whether the signature is over what RFC 5652, section 5.4, requires: the attributes if there are any, otherwise
    /// the content.
    ///
    /// The caller has to verify that the key is the one of a certificate that is trusted.
    public func isSigned(by key: ECPublicKey) -> Bool {
        guard let attributes = signer.attributes else { return isContentSigned(by: key) }
        return attributes.messageDigest.elementsEqual(SHA256.hash(content))
            && key.isValidSignature(der: signer.signature, digest: .sha256, message: attributes.signedPart[...])
    }

    /// Whether the signature is over the content, attributes or not: the mistake of Apple's receipts up to October 2020.
    public func isContentSigned(by key: ECPublicKey) -> Bool {
        key.isValidSignature(der: signer.signature, digest: .sha256, message: content[...])
    }
}

/// Why bytes are not a signed message that is read here.
public struct CMSError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of errors.
    @nonexhaustive public enum Code: String, Sendable, Hashable {
        /// Not the encoding of a signed message, or a part of it has another form than it must.
        case malformed
        /// More bytes, or more certificates, than are read here.
        case tooLarge = "too_large"
        /// Another kind of message, version or content.
        case kindUnsupported = "kind_unsupported"
        /// Another digest than SHA-256, another signature than ECDSA with it, or unknown parameters.
        case algorithmUnsupported = "algorithm_unsupported"
        /// No signer, or more than one.
        case signerCount = "signer_count"
        /// A signed attribute that is unknown, missing, doubled, out of order or malformed.
        case attributesMalformed = "attributes_malformed"
    }

    /// The kind of error.
    public let code: Code
    /// The place where the ASN.1 is malformed; nil when it is well-formed.
    public let cause: ASN1Error?

    package init(_ code: Code, cause: ASN1Error? = nil) {
        self.code = code
        self.cause = cause
    }

    /// The code and the cause, for logs.
    public var description: String {
        code.rawValue + (cause.map { ": \($0)" } ?? "")
    }
}
