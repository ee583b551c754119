public import AssayCore
public import AssayKit

/// The call `siteverify`, which Turnstile, hCaptcha and reCAPTCHA have in common: a form with the secret and the token, and JSON that says
/// `success`, or not and why (`error-codes`).
public struct SiteVerification: Sendable {
    /// What a code among `error-codes` means.
    public enum Meaning: Sendable {
        /// The token is refused.
        case refused(WebTokenProblem)
        /// Only the operator can correct it: the secret is wrong.
        case operatorsFault
        /// The service may know it in a moment.
        case tryAgain
    }

    /// The codes that all services have.
    public static let commonCodes: [ExactText: Meaning] = [
        "missing-input-secret": .operatorsFault, "invalid-input-secret": .operatorsFault,
        "missing-input-response": .refused(.refused), "invalid-input-response": .refused(.refused),
        "bad-request": .refused(.refused),
    ]

    /// What is called.
    public let url: EndpointURL
    private let codes: [ExactText: Meaning]
    private let responseLimit = 16 * 1024

    /// A service.
    ///
    /// - Parameter codes: the codes that it has in addition to ``commonCodes``.
    public init(_ url: EndpointURL, codes: [ExactText: Meaning]) {
        self.url = url
        self.codes = Self.commonCodes.merging(codes) { $1 }
    }

    /// The request for a question.
    ///
    /// - Parameter further: fields in addition to `secret`, `response` and `remoteip`.
    public func request(
        _ question: WebTokenQuestion, secret: String, further: [(name: String, value: String)] = []
    ) -> OutboundRequest {
        var fields = [(name: "secret", value: secret), (name: "response", value: question.token)]
        if let address = question.address { fields.append((name: "remoteip", value: address)) }
        return .form(url, fields + further, responseLimit: responseLimit)
    }

    /// The meaning of a response.
    ///
    /// - Parameter read: what the members of the answer about a genuine token say, beyond its time, host and action; throws an
    ///   `UpstreamFailure` for what is no answer.
    /// - Throws: `UpstreamFailure` for all that is not clearly about the token.
    public func read(
        _ response: OutboundResponse, _ read: (JSON, inout WebTokenAnswer) throws -> Void = { _, _ in }
    ) throws -> WebTokenVerdict {
        // Some errors come with 400.
        guard response.status == 200 || response.status == 400, let json = response.json,
            let isGenuine = json["success"]?.bool
        else { throw UpstreamFailure(response) }
        let found: [String]
        switch json["error-codes"] {
        case nil, .null?: found = []
        case .array(let elements)?:
            found = elements.compactMap(\.string)
            guard found.count == elements.count, found.count <= 16 else {
                throw UpstreamFailure(.malformed, "error-codes")
            }
        default: throw UpstreamFailure(.malformed, "error-codes")
        }
        guard !isGenuine else {
            guard response.status == 200, found.isEmpty else {
                throw UpstreamFailure(.malformed, "success with errors")
            }
            guard let made = json["challenge_ts"]?.string.flatMap({ Instant(rfc3339: $0) }) else {
                throw UpstreamFailure(.malformed, "challenge_ts")
            }
            var answer = WebTokenAnswer(made: made)
            answer.hostname = try Self.text(json, "hostname")
            try read(json, &answer)
            return .genuine(answer)
        }
        return try refusal(found)
    }

    private func refusal(_ found: [String]) throws -> WebTokenVerdict {
        let words = found.prefix(4).map { WebText.quoted($0) }.joined(separator: ", ")
        let meanings = found.compactMap { codes[ExactText($0)] }
        for meaning in meanings {
            if case .operatorsFault = meaning { throw UpstreamFailure(.unauthorized, words) }
        }
        for meaning in meanings {
            if case .tryAgain = meaning { throw UpstreamFailure(.unavailable, words) }
        }
        for meaning in meanings {
            if case .refused(let problem) = meaning { return .refused(problem, detail: words) }
        }
        throw UpstreamFailure(.requestRefused, words.isEmpty ? "no error codes" : words)
    }

    /// A text of an answer; nil when it is absent or empty.
    ///
    /// - Throws: `UpstreamFailure` for a value that is no text.
    public static func text(_ json: JSON, _ name: String) throws(UpstreamFailure) -> String? {
        switch json[name] {
        case nil, .null?: return nil
        case .string(let text)? where text.utf8.count <= 1024: return text.isEmpty ? nil : text
        default: throw UpstreamFailure(.malformed, name)
        }
    }

    /// A score; nil when it is absent.
    ///
    /// - Throws: `UpstreamFailure` for a value that is no number from 0 to 1.
    public static func score(_ json: JSON, _ name: String = "score") throws(UpstreamFailure) -> Double? {
        switch json[name] {
        case nil, .null?: return nil
        case let value?:
            guard let score = value.number, (0...1).contains(score) else { throw UpstreamFailure(.malformed, name) }
            return score
        }
    }

    /// Texts of an answer; none when it is absent.
    ///
    /// - Throws: `UpstreamFailure` for a value that is no short list of texts.
    public static func texts(_ json: JSON, _ name: String) throws(UpstreamFailure) -> [String] {
        switch json[name] {
        case nil, .null?: return []
        case .array(let elements)?:
            let texts = elements.compactMap(\.string)
            guard texts.count == elements.count, texts.count <= 32 else { throw UpstreamFailure(.malformed, name) }
            return texts
        default: throw UpstreamFailure(.malformed, name)
        }
    }
}
