/// One ASN.1 element of definite length: slices of the bytes that it was read from.
package struct ASN1Element: Sendable {
    /// The identifier.
    package let tag: ASN1Tag
    /// Identifier, length and content.
    package let encoded: ArraySlice<UInt8>
    /// The content alone.
    package let content: ArraySlice<UInt8>

    /// A reader of the elements that this one is made of.
    package var reader: DERReader { DERReader(content) }
}
