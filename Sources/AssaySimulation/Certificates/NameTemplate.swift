/// A name in a certificate: attributes in order, one to a set, as Apple writes them.
public struct NameTemplate: Sendable, Equatable {
    /// One attribute: the arcs of its type, and its text.
    public struct Attribute: Sendable, Equatable {
        /// The arcs of the object identifier: `[2, 5, 4, 3]` for a common name.
        public var type: [UInt64]
        /// The value, which is written as a UTF-8 string.
        public var text: String

        /// An attribute of a type with a text.
        public init(type: [UInt64], text: String) {
            self.type = type
            self.text = text
        }
    }

    /// In the order in which they are written.
    public var attributes: [Attribute]

    /// A name of attributes, each in a set of its own.
    public init(_ attributes: [Attribute]) {
        self.attributes = attributes
    }

    /// A name in the order of Apple's certificates; nil parts are left out.
    public init(
        commonName: String, organizationalUnit: String? = nil, organization: String? = nil, state: String? = nil,
        country: String? = nil
    ) {
        let parts: [([UInt64], String?)] = [
            (ObjectIdentifiers.commonName, commonName),
            (ObjectIdentifiers.organizationalUnit, organizationalUnit),
            (ObjectIdentifiers.organization, organization),
            (ObjectIdentifiers.state, state),
            (ObjectIdentifiers.country, country),
        ]
        attributes = parts.compactMap { type, text in text.map { Attribute(type: type, text: $0) } }
    }

    /// The DER of the name.
    ///
    /// A country is a PrintableString (RFC 5280, appendix A), the rest are UTF8Strings.
    public var derBytes: [UInt8] {
        DERWriter.value(
            0x30,
            attributes.flatMap { attribute in
                let isCountry = attribute.type == ObjectIdentifiers.country
                return DERWriter.set(
                    DERWriter.sequence(
                        DERWriter.objectIdentifier(attribute.type),
                        isCountry
                            ? DERWriter.printableString(attribute.text) : DERWriter.utf8String(attribute.text)))
            })
    }
}
