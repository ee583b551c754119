internal import AssayCore

/// The parameters of a query or a form (WHATWG URL, section 5.1, "application/x-www-form-urlencoded parsing").
struct QueryParameters: Sendable {
    struct Malformed: Error {}

    /// More than any client of App Check sends: a batch has 100 names at most.
    private static let limit = 256

    private var values: [ExactText: [String]] = [:]

    /// - Throws: ``Malformed`` for broken escapes, for what is not UTF-8, for names that are not ASCII, and for more than 256
    ///   parameters.
    init(_ bytes: some Sequence<UInt8>) throws(Malformed) {
        let parts = Array(bytes).split(separator: UInt8(ascii: "&"), maxSplits: QueryParameters.limit)
        guard parts.count <= QueryParameters.limit else { throw Malformed() }
        for part in parts {
            let equals = part.firstIndex(of: UInt8(ascii: "=")) ?? part.endIndex
            let name = try QueryParameters.decoded(part[..<equals])
            guard name.isASCII else { throw Malformed() }
            values[name, default: []].append(try QueryParameters.decoded(part[equals...].dropFirst()))
        }
    }

    /// The parameters of a request target.
    init(target: String) throws(Malformed) {
        let behind = target.utf8.drop { $0 != UInt8(ascii: "?") }.dropFirst()
        try self.init(behind.prefix { $0 != UInt8(ascii: "#") })
    }

    /// Every parameter with its values, by name.
    var all: [(name: String, values: [String])] {
        values.sorted { $0.key < $1.key }.map { ($0.key.string, $0.value) }
    }

    /// All values of a parameter, in their order.
    subscript(_ name: String) -> [String] { values[name] ?? [] }

    private static func decoded(_ part: ArraySlice<UInt8>) throws(Malformed) -> String {
        var bytes: [UInt8] = []
        // Most texts have nothing to decode.
        if !part.contains(UInt8(ascii: "%")), !part.contains(UInt8(ascii: "+")) {
            bytes = Array(part)
        } else {
            let isWhole = PercentCoding.decode(part) { byte, isEscaped in
                bytes.append(byte == UInt8(ascii: "+") && !isEscaped ? UInt8(ascii: " ") : byte)
                return true
            }
            guard isWhole else { throw Malformed() }
        }
        guard let text = String(validating: bytes, as: UTF8.self), !text.utf8.contains(0) else { throw Malformed() }
        return text
    }
}

/// A request message in a form, as OAuth's endpoints accept it (RFC 6749, appendix B).
enum FormMessage {
    /// A parameter is a text; a repeated one is a list.
    static func read(_ headers: HeaderFields, _ body: [UInt8]) throws(HTTPFault) -> JSON {
        let types = headers["content-type"]
        let type = types.first.map { $0.prefix(upTo: $0.firstIndex(ofASCII: ";")) } ?? ""
        guard types.count == 1, type.trimmedASCII.isExactlyIgnoringASCIICase("application/x-www-form-urlencoded") else {
            throw .invalid("The request body must be a form: application/x-www-form-urlencoded.")
        }
        guard headers.members(of: "content-encoding").allSatisfy({ $0.isExactlyIgnoringASCIICase("identity") })
        else {
            throw .compressed
        }
        do throws(QueryParameters.Malformed) {
            return .object(
                try QueryParameters(body).all.map { name, values in
                    JSONMember(name, values.count == 1 ? .string(values[0]) : .array(values.map { .string($0) }))
                })
        } catch {
            throw .invalid("The request body is not a valid form.")
        }
    }
}
