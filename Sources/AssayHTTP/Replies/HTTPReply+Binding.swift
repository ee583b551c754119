internal import AssayCore

/// Replies of methods that declare another form than App Check's.
extension HTTPReply {
    /// A reply whose message is in header fields.
    ///
    /// All declared fields are present, empty if the message lacks them, so that a proxy that copies them replaces what
    /// its client sent under these names.
    ///
    /// - Parameter statusField: the field with the status, if it is not 204.
    init(_ headers: [HTTPBinding.Header], statusField: String?, of message: JSON) {
        var all: HeaderFields = [("cache-control", "no-store")]
        for header in headers {
            let text: String
            switch message[header.field] {
            case .string(let value)?: text = value
            case .bool(let value)?: text = String(value)
            case .integer(let value)?: text = String(value)
            default: text = ""
            }
            guard text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
                self.init(empty: .serviceUnavailable, headers: [("cache-control", "no-store")])
                return
            }
            all.append((header.name, text))
        }
        var status = HTTPStatus.noContent
        if let statusField, case .integer(let code)? = message[statusField], (200...299).contains(code) {
            status = HTTPStatus(Int(code))
        }
        self.init(empty: status, headers: all)
    }

    /// The kernel's failure, in the form that the method declares.
    init(_ failure: CallFailure, decision: DecisionID, _ route: HTTPRoute) {
        let binding = route.binding
        let usual = failure.status.httpStatus
        let replacement = binding.statuses[failure.status].map { HTTPStatus($0) }
        switch binding.errors {
        case .google:
            self.init(failure, decision: decision, replacement ?? usual)
            if route.takesToken, failure.status == .unauthenticated {
                headers = HeaderFields(headers.map(HTTPReply.forToken))
            }
        case .oauth:
            self.init(oauth: failure)
        case .bare:
            self.init(empty: usual, headers: [("cache-control", "no-store")])
            if failure.status == .unauthenticated {
                headers.append(("www-authenticate", route.takesToken ? HTTPReply.tokenChallenge : HTTPReply.challenge))
            }
            addWait(failure)
        }
        if let replacement { status = replacement }
        // A method that names the credentials that it needs takes no others.
        if failure.metadata.contains(where: { $0.name.isExactly("www-authenticate") }) {
            headers = HeaderFields(headers.filter { !$0.name.isExactly("www-authenticate") })
        }
        for entry in failure.metadata where HTTPReply.isHeader(entry) { headers.append((entry.name, entry.value)) }
    }

    /// An error of OAuth (RFC 6749, section 5.2).
    private init(oauth failure: CallFailure) {
        let usual = OAuthError(failure.status)
        let code = failure.oauthError ?? usual.code
        // Errors in the request get 400, whatever caused them; 401 is for the caller's own credentials.
        let status =
            failure.oauthError.isNil || usual.status.code >= 429 || code.isExactly(OAuthError.invalidClient)
            ? usual.status : .badRequest
        self.init(status, ["error": .string(code), "error_description": .string(OAuthError.text(failure.message))])
        if status == .unauthorized { headers.append(("www-authenticate", HTTPReply.challenge)) }
        addWait(failure)
    }

    /// The transport's own refusal of a request to an OAuth endpoint.
    init(oauth fault: HTTPFault) {
        self.init(
            fault.status,
            ["error": "invalid_request", "error_description": .string(OAuthError.text(fault.message))])
    }

    private mutating func addWait(_ failure: CallFailure) {
        if let wait = failure.retryAfter { headers.append(("retry-after", String(HTTPReply.wholeSeconds(wait)))) }
    }

    private static let challenge = "Bearer realm=\"assay\""
    /// No scheme is registered for App Check's header; this one says what is missing.
    private static let tokenChallenge = "AppCheck realm=\"assay\", error=\"invalid_token\""

    private static func forToken(_ header: (name: String, value: String)) -> (name: String, value: String) {
        header.name.isExactly("www-authenticate") ? (header.name, tokenChallenge) : header
    }

    private static func isHeader(_ entry: CallFailure.Metadata) -> Bool {
        !entry.name.isEmpty
            && entry.name.utf8.allSatisfy {
                $0.isASCIILowercase || $0.isASCIIDigit || $0 == UInt8(ascii: "-")
            } && entry.value.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }
}

/// A canonical status as an OAuth error.
private struct OAuthError {
    static let invalidClient = "invalid_client"

    let code: String
    let status: HTTPStatus

    init(_ status: StatusCode) {
        self.status = status.httpStatus
        code =
            switch status {
            case .unauthenticated: OAuthError.invalidClient
            case .permissionDenied: "unauthorized_client"
            case .unavailable, .resourceExhausted: "temporarily_unavailable"
            case .internalError: "server_error"
            case .invalidArgument, .failedPrecondition, .notFound, .alreadyExists, .aborted, .unimplemented:
                "invalid_request"
            }
    }

    /// Keeps only the characters that a description may have.
    static func text(_ message: String) -> String {
        String(
            decoding: message.utf8.map { byte in
                switch byte {
                case UInt8(ascii: "\""), UInt8(ascii: "\\"): UInt8(ascii: "'")
                case 0x20...0x7E: byte
                default: UInt8(ascii: "?")
                }
            }, as: UTF8.self)
    }
}
