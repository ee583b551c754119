internal import AssayCore
internal import AssayKit

/// Where a webhook is, and how the server proves itself to it: `URL` or `URL#bearer=REFERENCE`.
///
/// The part after `#` is never sent.
struct WebhookLocation: Sendable, Equatable {
    let url: EndpointURL
    /// The secret that is sent as the bearer token; nil for none.
    let bearer: SecretReference?

    /// - Throws: for any other form; the text is not repeated, since it may contain a secret.
    init(_ text: String) throws(DecisionSinkError) {
        let parts = text.split(onASCII: "#", maxSplits: 1)
        guard let first = parts.first, let url = EndpointURL(String(first)) else {
            throw DecisionSinkError(
                "webhook: expected a URL such as https://host/path, without user and password; http is for localhost only"
            )
        }
        self.url = url
        guard parts.count == 2 else {
            bearer = nil
            return
        }
        guard let reference = String(parts[1]).droppingBearer.flatMap({ SecretReference($0) }) else {
            throw DecisionSinkError("webhook: expected #bearer=env:NAME or #bearer=file:PATH after the URL")
        }
        bearer = reference
    }
}

extension String {
    /// The text after `bearer=`; nil when it does not start so.
    fileprivate var droppingBearer: String? {
        let prefix = "bearer="
        guard starts(withExactly: prefix) else { return nil }
        return String(self[utf8.index(startIndex, offsetBy: prefix.utf8.count)...])
    }
}
