internal import AssayCore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The header fields of a request that Envoy asks about.
///
/// Envoy sends them merged by their names, or as they came, or both; other gRPC clients of this service send them only
/// as they came. A field in both lists counts once.
struct CheckHeaders {
    /// The header with the token.
    static let token = "x-firebase-appcheck"
    /// The beginning of the header names that carry App Check's findings to a backend.
    private static let namespace = "x-appcheck-"

    /// The longest name that is repeated to Envoy, in bytes.
    private static let nameLimit = 256

    /// The longest value of another field that is read, in bytes.
    private static let valueLimit = 4096

    /// The values of a field in one of the two lists.
    private enum Shown: Equatable {
        case nothing
        case one(Data)
        case several

        var values: [String] {
            switch self {
            case .nothing: []
            case .one(let value): [String(decoding: value, as: UTF8.self)]
            case .several: ["", ""]
            }
        }

        /// The same, according to both lists.
        static func both(_ merged: Shown, _ single: Shown) -> Shown {
            switch (merged, single) {
            case (.nothing, let other), (let other, .nothing): other
            default: merged == single ? merged : .several
            }
        }
    }

    /// What one list says of the token and of the wanted fields.
    private struct Found {
        var token = Shown.nothing
        var wanted: [Shown]
    }

    /// The values of the header with the token; if there are several, they are not disclosed.
    let tokens: [String]
    /// The fields of the message that wanted headers become; if there are several of one, they are not disclosed.
    let members: [JSONMember]
    /// The names that a backend might mistake for those of findings, in lower case.
    private(set) var findings: Set<ExactText> = []

    /// - Throws: ``UnreadableCheck`` when there are too many, when one has a name that could not be repeated to Envoy,
    ///   or when the token is longer than any that is read.
    ///
    /// - Parameters:
    ///   - declared: the headers of findings.
    ///   - wanted: the headers that become fields.
    init(
        _ request: Envoy_Service_Auth_V3_AttributeContext.HttpRequest, findings declared: [HTTPBinding.Header],
        wanted: [HTTPBinding.Header] = [], limit: Int
    ) throws(UnreadableCheck) {
        let raw = request.headerMap.headers
        guard request.headers.count <= limit, raw.count <= limit else {
            throw UnreadableCheck("it has more than \(limit) header fields")
        }
        var findings: Set<ExactText> = []
        let nothing = Found(wanted: wanted.map { _ in .nothing })
        var (merged, single) = (nothing, nothing)
        for field in request.headers {
            try Self.read(field.key, [field.value], declared, wanted, into: &merged, &findings)
        }
        for field in raw {
            // A field without a value counts as a field, as it does over HTTP.
            let values = [field.value, field.rawValue].filter { !$0.isEmpty }
            try Self.read(
                field.key, values.isEmpty ? [field.value] : values, declared, wanted, into: &single, &findings)
        }
        tokens = Shown.both(merged.token, single.token).values
        members = zip(wanted, zip(merged.wanted, single.wanted)).compactMap { header, found in
            let values = Shown.both(found.0, found.1).values
            guard let first = values.first else { return nil }
            return JSONMember(
                header.field, values.count == 1 ? .string(first) : .array(values.map { .string($0) }))
        }
        self.findings = findings
    }

    /// Reads one field, and remembers it if it is the token, wanted or named like a finding.
    private static func read(
        _ name: Data, _ values: [Data], _ declared: [HTTPBinding.Header], _ wanted: [HTTPBinding.Header],
        into found: inout Found, _ findings: inout Set<ExactText>
    ) throws(UnreadableCheck) {
        guard name.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw UnreadableCheck("the name of a header field has invalid characters")
        }
        let isFinding =
            isLike(name, namespace)
            || declared.contains { name.count == $0.name.utf8.count && isLike(name, $0.name) }
        if isFinding {
            guard name.count <= nameLimit else {
                throw UnreadableCheck("the name of a header field is longer than \(nameLimit) bytes")
            }
            findings.insert(ExactText(String(decoding: name.map(\.lowercasedASCII), as: UTF8.self)))
        }
        if isNamed(name, token) {
            for value in values.lazy.map(\.trimmedASCII) {
                guard value.count <= BearerToken.byteLimit else {
                    throw UnreadableCheck("the token is longer than \(BearerToken.byteLimit) bytes")
                }
                // No token contains a comma: several values were merged.
                let isOne = found.token == .nothing && !value.contains(UInt8(ascii: ","))
                found.token = isOne ? .one(value) : .several
            }
        } else if let index = wanted.firstIndex(where: { isNamed(name, $0.name) }) {
            for value in values.lazy.map(\.trimmedASCII) {
                let isOne = found.wanted[index] == .nothing && value.count <= valueLimit
                found.wanted[index] = isOne ? .one(value) : .several
            }
        }
    }

    /// Whether a field has a given lower-case name.
    private static func isNamed(_ name: Data, _ expected: String) -> Bool {
        name.count == expected.utf8.count && name.map(\.lowercasedASCII).elementsEqual(expected.utf8)
    }

    /// Whether a name begins with a given lower-case text.
    ///
    /// Servers in some languages treat `-` and `_` as equal.
    private static func isLike(_ name: Data, _ beginning: String) -> Bool {
        name.count >= beginning.utf8.count
            && zip(name, beginning.utf8).allSatisfy { byte, expected in
                (byte == UInt8(ascii: "_") ? UInt8(ascii: "-") : byte.lowercasedASCII) == expected
            }
    }
}
