/// One extension of a certificate: the arcs of its type, whether it is critical, and the DER inside its octet string.
public struct ExtensionTemplate: Sendable, Equatable {
    /// The arcs of the object identifier, such as `[2, 5, 29, 19]`.
    public var type: [UInt64]
    /// Whether a reader that does not know it must refuse the certificate.
    public var isCritical: Bool
    /// The DER inside the octet string.
    public var value: [UInt8]

    /// An extension; nothing checks that its value fits its type.
    public init(type: [UInt64], isCritical: Bool = false, value: [UInt8]) {
        self.type = type
        self.isCritical = isCritical
        self.value = value
    }

    /// The DER of the extension; a false `critical` is left out, as DER demands of a default.
    public var derBytes: [UInt8] {
        DERWriter.sequence(
            DERWriter.objectIdentifier(type), isCritical ? DERWriter.boolean(true) : [],
            DERWriter.octetString(value))
    }
}

extension ExtensionTemplate {
    /// Critical basic constraints of a certificate authority, with a path length where one is given.
    public static func authority(pathLength: UInt64? = nil) -> Self {
        Self(
            type: ObjectIdentifiers.basicConstraints, isCritical: true,
            value: DERWriter.sequence(
                DERWriter.boolean(true), pathLength.map { DERWriter.integer($0) } ?? []))
    }

    /// Critical basic constraints of an end entity: an empty sequence.
    public static let endEntity = Self(
        type: ObjectIdentifiers.basicConstraints, isCritical: true, value: DERWriter.sequence())

    /// Critical key usage from its one octet of bits, and how many of the lowest are unused.
    public static func keyUsage(_ bits: UInt8, unusedBits: UInt8) -> Self {
        Self(
            type: ObjectIdentifiers.keyUsage, isCritical: true,
            value: DERWriter.bitString([bits], unusedBits: unusedBits))
    }

    /// Extended key usage with the purposes given, as arcs.
    public static func extendedKeyUsage(_ purposes: [[UInt64]]) -> Self {
        Self(
            type: ObjectIdentifiers.extendedKeyUsage,
            value: DERWriter.value(0x30, purposes.flatMap(DERWriter.objectIdentifier)))
    }

    static func subjectKeyIdentifier(_ identifier: [UInt8]) -> Self {
        Self(type: ObjectIdentifiers.subjectKeyIdentifier, value: DERWriter.octetString(identifier))
    }

    static func authorityKeyIdentifier(_ identifier: [UInt8]) -> Self {
        Self(
            type: ObjectIdentifiers.authorityKeyIdentifier,
            value: DERWriter.sequence(DERWriter.value(0x80, identifier)))
    }
}
