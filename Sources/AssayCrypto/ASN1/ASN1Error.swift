/// Why bytes are not the ASN.1 that was expected.
package struct ASN1Error: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong.
    package enum Code: String, Sendable, Hashable {
        /// An element ends behind the bytes that hold it.
        case truncated
        /// A tag number in a longer form than it needs, or above what is read here.
        case tagMalformed = "tag_malformed"
        /// Another element than the one that must be here.
        case tagUnexpected = "tag_unexpected"
        /// A length in a longer form than it needs.
        case lengthNotMinimal = "length_not_minimal"
        /// A length that is not given, where it must be.
        case lengthIndefinite = "length_indefinite"
        /// A length, or a number of elements, above what is read here.
        case tooLarge = "too_large"
        /// Bytes behind the last element.
        case trailingBytes = "trailing_bytes"
        /// An INTEGER that is empty, not in its shortest form, or out of the expected range.
        case integerMalformed = "integer_malformed"
        /// A BOOLEAN other than 00 and FF.
        case booleanMalformed = "boolean_malformed"
        /// A BIT STRING with a wrong count of unused bits, or with unused bits that are set.
        case bitStringMalformed = "bit_string_malformed"
        /// A NULL with content.
        case nullMalformed = "null_malformed"
        /// An OBJECT IDENTIFIER that is empty, unfinished or not in its shortest form.
        case objectIdentifierMalformed = "object_identifier_malformed"
        /// A time in another form than RFC 5280 has, or one that does not exist.
        case timeMalformed = "time_malformed"
        /// Parts of an octet string that are cut otherwise than where they must be.
        case partsMalformed = "parts_malformed"
        /// An element of indefinite length that does not end with end-of-contents octets.
        case endOfContentsMissing = "end_of_contents_missing"
        /// A value other than the only one allowed here.
        case valueUnexpected = "value_unexpected"
    }

    /// What is wrong.
    package let code: Code
    /// Where: an index of the array that was read.
    package let offset: Int

    package init(_ code: Code, at offset: Int) {
        self.code = code
        self.offset = offset
    }

    package var description: String { "\(code.rawValue) at byte \(offset)" }
}
