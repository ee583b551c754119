/// How a backend says that the App Check token is what it refuses: `WWW-Authenticate: AppCheck …, error="invalid_token"`.
///
/// Assay's own answers have it, and those of its middleware. The header is HTTP's (RFC 9110, section 11.6.1), and its
/// parameter `error` OAuth's (RFC 6750, section 3.1). With gRPC it is a metadata of the failed call.
public enum TokenRefusal {
    /// Whether the value of a header field `WWW-Authenticate` says so.
    public static func isSaid(by challenge: String) -> Bool {
        let value = challenge.loweredASCII
        let scheme = value.utf8.prefix { $0 != UInt8(ascii: " ") }
        return scheme.elementsEqual("appcheck".utf8) && value.utf8.hasRun("error=\"invalid_token\"".utf8)
    }
}
