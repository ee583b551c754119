extension OutboundRequest {
    /// A `POST` with fields of a form (WHATWG URL, section 5.2).
    ///
    /// - `headers`: Further header fields.
    public static func form(
        _ url: EndpointURL, _ fields: [(name: String, value: String)], headers: [OutboundHeader] = [],
        responseLimit: Int = 64 * 1024
    ) -> OutboundRequest {
        let pairs = fields.map { formEncoded($0.name) + [UInt8(ascii: "=")] + formEncoded($0.value) }
        return OutboundRequest(
            .post, url, headers: [OutboundHeader("Content-Type", "application/x-www-form-urlencoded")] + headers,
            body: Array(pairs.joined(separator: [UInt8(ascii: "&")])), responseLimit: responseLimit)
    }

    /// A `POST` with JSON.
    ///
    /// - `headers`: Further header fields.
    public static func json(
        _ url: EndpointURL, _ body: JSON, headers: [OutboundHeader] = [], responseLimit: Int = 64 * 1024
    ) -> OutboundRequest {
        OutboundRequest(
            .post, url, headers: [OutboundHeader("Content-Type", "application/json")] + headers, body: body.encoded,
            responseLimit: responseLimit)
    }

    private static let formSafe = Array("*-._".utf8)

    private static func formEncoded(_ text: String) -> [UInt8] {
        text.utf8.flatMap { byte -> [UInt8] in
            switch byte {
            case UInt8(ascii: " "): [UInt8(ascii: "+")]
            case _ where byte.isASCIILetterOrDigit || formSafe.contains(byte): [byte]
            default: PercentCoding.encode(byte)
            }
        }
    }
}

extension OutboundResponse {
    /// The body, if it is one JSON text in which no object names a member twice; otherwise nil.
    public var json: JSON? {
        try? JSON.parse(body, limits: JSON.Limits(bytes: body.count, allowsRepeatedNames: false))
    }
}
