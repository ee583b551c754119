/// Why bytes are not the ASN.1 that was expected.
public struct ASN1Error: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of errors.
    @nonexhaustive public enum Code: String, Sendable, Hashable {
        /// An element ends after the bytes that contain it.
        case truncated
        /// A tag number that is not in its shortest form, or is above 2^21 - 1.
        case tagMalformed = "tag_malformed"
        /// Another element than the required one.
        case tagUnexpected = "tag_unexpected"
        /// A length that is not in its shortest form.
        case lengthNotMinimal = "length_not_minimal"
        /// An indefinite length where a definite one is required.
        case lengthIndefinite = "length_indefinite"
        /// A length, or a number of elements, above the limit.
        case tooLarge = "too_large"
        /// Bytes after the last element.
        case trailingBytes = "trailing_bytes"
        /// An INTEGER or ENUMERATED that is empty, not in its shortest form, or out of the expected range.
        case integerMalformed = "integer_malformed"
        /// A BOOLEAN other than 00 and FF.
        case booleanMalformed = "boolean_malformed"
        /// A BIT STRING with a wrong count of unused bits, or with unused bits that are set.
        case bitStringMalformed = "bit_string_malformed"
        /// A NULL with content.
        case nullMalformed = "null_malformed"
        /// An OBJECT IDENTIFIER that is empty, unfinished or not in its shortest form.
        case objectIdentifierMalformed = "object_identifier_malformed"
        /// A time without the form of RFC 5280, or one that does not exist.
        case timeMalformed = "time_malformed"
        /// An octet string whose parts have other lengths than they must have.
        case partsMalformed = "parts_malformed"
        /// An element of indefinite length that does not end with end-of-contents octets.
        case endOfContentsMissing = "end_of_contents_missing"
        /// A value other than the only allowed one.
        case valueUnexpected = "value_unexpected"
    }

    /// The kind of error.
    public let code: Code
    /// Where: an index of the array that was read.
    public let offset: Int

    /// An error at an index of the array that was read; for readers of extensions that are built on ``DERReader``.
    public init(_ code: Code, at offset: Int) {
        self.code = code
        self.offset = offset
    }

    /// The code and the index, for logs.
    public var description: String { "\(code.rawValue) at byte \(offset)" }
}
