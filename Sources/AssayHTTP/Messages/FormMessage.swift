internal import AssayKit
internal import NIOHTTP1

/// A request message that comes as a form, as OAuth's endpoints take it (RFC 6749, appendix B).
enum FormMessage {
    /// A parameter is a text, and one that is there several times a list.
    static func read(_ headers: HTTPHeaders, _ body: [UInt8]) throws(HTTPFault) -> JSON {
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
            throw .invalid("The request body is no valid form.")
        }
    }
}
