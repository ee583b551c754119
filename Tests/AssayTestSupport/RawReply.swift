public import AssayCore
internal import AssayKit

/// A reply as it came over the wire.
public struct RawReply: Sendable {
    /// The status code.
    public let status: Int
    /// The header fields, in their order.
    public let headers: [(name: String, value: String)]
    /// The body.
    public let body: [UInt8]

    /// Makes a reply from its parts.
    public init(status: Int, headers: [(name: String, value: String)], body: [UInt8]) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The first header field with this name.
    public subscript(header: String) -> String? {
        headers.first { $0.name == header }?.value
    }

    /// The body, which has to be JSON.
    public var json: JSON {
        get throws { try JSON.parse(body) }
    }

    /// A member of the error, after a check that the error has the shape that clients parse.
    public func error(_ member: String) throws -> JSON? {
        guard let error = try json["error"], error["code"] == .integer(Int64(status)), error["message"]?.string != nil,
            error["status"]?.string != nil, self["content-type"] == "application/json; charset=UTF-8"
        else { return nil }
        return error[member]
    }
}
