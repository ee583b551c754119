internal import AssayKit
internal import NIOHTTP1

/// A request message that comes as a form, as OAuth's endpoints take it (RFC 6749, appendix B).
enum FormMessage {
    /// A parameter is a text, and one that is there several times a list.
    static func read(_ headers: HTTPHeaders, _ body: [UInt8]) throws(HTTPFault) -> JSON {
        let types = headers["content-type"]
        let type = types.first?.split(separator: ";").first ?? ""
        guard types.count == 1, String(type).trimmed.lowercased() == "application/x-www-form-urlencoded" else {
            throw .invalid("The request body must be a form: application/x-www-form-urlencoded.")
        }
        guard headers[canonicalForm: "content-encoding"].allSatisfy({ $0.lowercased() == "identity" }) else {
            throw .compressed
        }
        do throws(QueryParameters.Malformed) {
            return .object(
                try QueryParameters(body).all.map { name, values in
                    JSONMember(name, values.count == 1 ? .string(values[0]) : .array(values.map { .string($0) }))
                })
        } catch {
            throw .invalid("The request body is no valid form.")
        }
    }
}

extension String {
    fileprivate var trimmed: String {
        var text = Substring(self)
        while text.last == " " || text.last == "\t" { text.removeLast() }
        return String(text.drop { $0 == " " || $0 == "\t" })
    }
}
