internal import AssayKit

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
        var rest = part
        // Most have nothing to decode.
        if !part.contains(UInt8(ascii: "%")), !part.contains(UInt8(ascii: "+")) { (bytes, rest) = (Array(part), []) }
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(RequestPath.digit),
                    let low = rest.popFirst().flatMap(RequestPath.digit)
                else { throw Malformed() }
                bytes.append(high << 4 | low)
            default: bytes.append(byte)
            }
        }
        guard let text = String(validating: bytes, as: UTF8.self), !text.utf8.contains(0) else { throw Malformed() }
        return text
    }
}
