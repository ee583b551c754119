/// A signed message in the one shape that Apple's receipts have (RFC 5652, section 5), taken apart but not verified.
///
/// Version 1, content of the type `id-data` inside, SHA-256, certificates, one signer with ECDSA, nothing else. Two
/// spellings are read: definite lengths throughout, and Apple's, where the outer elements have indefinite lengths and the
/// content comes in parts of 1000 bytes. Each byte is thereby either free of choice or covered by the signature.
package struct SignedData: Sendable {
    /// The most bytes that are read.
    package static let byteLimit = 64 * 1024
    /// The most certificates that are read.
    package static let certificateLimit = 8
    /// The size of the parts that Apple cuts the content into.
    package static let partSize = 1000

    /// The content, its parts put together.
    package let content: [UInt8]
    /// The certificates, each encoded, in their order.
    package let certificates: [ArraySlice<UInt8>]
    /// The one signer.
    package let signer: SignerInformation

    /// Takes a message apart.
    package init(_ bytes: ArraySlice<UInt8>) throws(CMSError) {
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
    /// Whether the signer signed as RFC 5652, section 5.4, has it: the attributes where there are any, else the content.
    package func isSigned(by key: ECPublicKey) -> Bool {
        guard let attributes = signer.attributes else { return isContentSigned(by: key) }
        return attributes.messageDigest.elementsEqual(SHA256.hash(content))
            && key.isValidSignature(der: signer.signature, digest: .sha256, message: attributes.signedPart[...])
    }

    /// Whether the signature is over the content, attributes or not: the mistake of Apple's receipts up to October 2020.
    package func isContentSigned(by key: ECPublicKey) -> Bool {
        key.isValidSignature(der: signer.signature, digest: .sha256, message: content[...])
    }
}
