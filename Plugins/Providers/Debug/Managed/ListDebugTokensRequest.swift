internal import AssayCore
internal import AssayKit

/// The part of the debug tokens that a caller asks for (AIP-158).
///
/// The token of a page is sealed: it cannot be made up, altered, or used for another app.
struct ListDebugTokensRequest: RequestMessage {
    static let shape: MessageShape? = [
        .optional("pageSize", .integer(0...Int64(Int32.max))), .optional("pageToken", .text),
    ]
    static let reply: MessageShape = [
        .optional("debugTokens", .list(.message(DebugTokenView.shape), atMost: largest)),
        .optional("nextPageToken", .text),
    ]

    /// How many tokens the reply may have.
    let size: Int
    private let pageToken: [UInt8]?

    /// The largest page, which is also the default.
    private static let largest = 100
    /// The text before the identifier in the token of a page, which tells it from other sealed values.
    private static let mark = Array("page of debug tokens: ".utf8)

    init(_ fields: RequestFields) throws(InvalidRequest) {
        let wanted = try fields.integer("pageSize") ?? 0
        guard wanted >= 0 else { throw InvalidRequest("the field 'pageSize' must not be negative") }
        let largest = ListDebugTokensRequest.largest
        size = wanted == 0 ? largest : Int(min(wanted, Int64(largest)))
        guard let text = try fields.optionalString("pageToken") else {
            pageToken = nil
            return
        }
        guard let bytes = Base64.decode(text) else { throw ListDebugTokensRequest.unknownPage }
        pageToken = bytes
    }

    /// The identifier that the page before ended with; nil for the first page.
    func after(_ sealer: Sealer) throws(InvalidRequest) -> String? {
        guard let pageToken else { return nil }
        guard let plain = sealer.open(pageToken), plain.starts(with: ListDebugTokensRequest.mark) else {
            throw ListDebugTokensRequest.unknownPage
        }
        return String(decoding: plain.dropFirst(ListDebugTokensRequest.mark.count), as: UTF8.self)
    }

    static func pageToken(after id: String, _ sealer: Sealer) throws -> String {
        Base64.encodeURL(try sealer.seal(mark + Array(id.utf8)))
    }

    private static let unknownPage = InvalidRequest("the field 'pageToken' is not a token that this service issued")
}
