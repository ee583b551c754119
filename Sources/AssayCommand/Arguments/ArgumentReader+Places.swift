internal import AssayCore

extension ArgumentReader<EndpointURL> {
    /// The URL of a server.
    static func url(_ example: String) -> Self {
        ArgumentReader(accepted: "a URL such as \(example); http is for this machine alone") {
            text throws(ArgumentCause) in
            guard let url = EndpointURL(text) else { throw "not a URL that can be called" }
            guard url.query.isNil else { throw "a URL with a query" }
            return url
        }
    }
}

extension ArgumentReader<SecretReference> {
    /// Where a secret is.
    static var secret: Self {
        ArgumentReader(accepted: "file:PATH or env:NAME") { text throws(ArgumentCause) in
            guard let reference = SecretReference(text) else { throw "not a reference to a secret" }
            return reference
        }
    }
}
