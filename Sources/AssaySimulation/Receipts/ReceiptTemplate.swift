public import AssayCrypto

/// Every part of a receipt before it is signed, each free to be wrong.
///
/// A receipt is a SignedData message (RFC 5652) whose content is a set of fields.
public struct ReceiptTemplate: Sendable {
    /// How lengths are written.
    public enum Encoding: Sendable, CaseIterable {
        /// Indefinite lengths and the content in chunks, as Apple does.
        case indefinite
        /// DER throughout, the content in one piece.
        case definite
    }

    /// The content, in the order in which it is written.
    public var fields: [ReceiptField]
    /// Set to sign these bytes in the place of the fields.
    public var content: [UInt8]?
    /// Whether lengths are written as Apple does, or as DER.
    public var encoding = Encoding.indefinite
    /// How many bytes of content go into a chunk.
    public var chunkSize = 1000
    /// The certificates in the message, in DER: Apple includes signer, authority and root.
    public var certificates: [[UInt8]]
    /// The SignerInfos: Apple's receipts have one.
    public var signatures: [ReceiptSignature]

    /// A receipt in Apple's encoding, with these parts.
    public init(fields: [ReceiptField], certificates: [[UInt8]], signatures: [ReceiptSignature]) {
        self.fields = fields
        self.certificates = certificates
        self.signatures = signatures
    }

    /// A receipt with the three certificates and the signature of a simulated authority.
    public init(fields: [ReceiptField], signedBy authority: SimulatedAppleCA) {
        self.init(
            fields: fields,
            certificates: [authority.receiptSigner, authority.receiptAuthority, authority.receiptRoot]
                .map(\.certificateDER),
            signatures: [ReceiptSignature(authority.receiptSigner)])
    }

    /// The first value of a type; setting it replaces the field or adds one, nil removes it.
    public subscript(kind: ReceiptField.Kind) -> [UInt8]? {
        get { fields.first { $0.type == kind.rawValue }?.value }
        set {
            let index = fields.firstIndex { $0.type == kind.rawValue }
            switch (index, newValue) {
            case (let index?, let value?): fields[index].value = value
            case (let index?, nil): fields.remove(at: index)
            case (nil, let value?): fields.append(ReceiptField(kind, value))
            case (nil, nil): break
            }
        }
    }

    /// The signed message.
    public func signed() throws(CryptoError) -> [UInt8] {
        let content = content ?? DERWriter.value(0x31, fields.flatMap(\.derBytes))
        var signerInfos: [UInt8] = []
        for signature in signatures { signerInfos += try signature.derBytes(over: content) }
        let encapsulated = constructed(
            0x30,
            DERWriter.objectIdentifier(ObjectIdentifiers.data) + constructed(0xA0, octets(content)))
        let signedData = constructed(
            0x30,
            DERWriter.integer(1)
                + DERWriter.set(Self.algorithm(.sha256))
                + encapsulated
                + (certificates.isEmpty ? [] : constructed(0xA0, certificates.flatMap { $0 }))
                + DERWriter.value(0x31, signerInfos))
        return constructed(
            0x30,
            DERWriter.objectIdentifier(ObjectIdentifiers.signedData) + constructed(0xA0, signedData))
    }

    static func algorithm(_ digest: DigestAlgorithm) -> [UInt8] {
        let arcs =
            switch digest {
            case .sha256: ObjectIdentifiers.sha256
            case .sha384: ObjectIdentifiers.sha384
            case .sha512: ObjectIdentifiers.sha512
            }
        return DERWriter.sequence(DERWriter.objectIdentifier(arcs), DERWriter.null)
    }

    private func constructed(_ identifier: UInt8, _ content: [UInt8]) -> [UInt8] {
        switch encoding {
        case .indefinite: DERWriter.indefinite(identifier, content)
        case .definite: DERWriter.value(identifier, content)
        }
    }

    private func octets(_ content: [UInt8]) -> [UInt8] {
        guard encoding == .indefinite else { return DERWriter.octetString(content) }
        let size = max(1, chunkSize)
        let chunks = stride(from: 0, to: content.count, by: size).map {
            DERWriter.octetString(Array(content[$0..<min($0 + size, content.count)]))
        }
        return DERWriter.indefinite(0x24, chunks.flatMap { $0 })
    }
}
