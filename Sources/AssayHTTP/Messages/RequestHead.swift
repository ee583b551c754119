internal import NIOHTTP1

/// What a request asks for, before its body.
struct RequestHead: Sendable {
    let method: String
    /// As it stands in the request line, or in `:path`.
    let target: String
    let headers: HTTPHeaders
}
