public import AssayCore
internal import AssayKit

/// What a service says of a genuine token of a page.
public struct WebTokenAnswer: Sendable {
    /// When the challenge was solved, or the token was made.
    public var made: Instant
    /// The host of the page; nil if it was no page.
    @Exact public var hostname: String?
    /// What the page made the token for; nil when it did not say, or the service does not know actions.
    @Exact public var action: String?
    /// From 0 to 1; the rules know which end is good.
    ///
    /// Nil when the service gives none.
    public var score: Double?
    /// The package of an app for Android; nil if it was none.
    @Exact public var androidPackage: String?
    /// The bundle identifier of an app of Apple's systems; nil if it was none.
    @Exact public var bundleID: String?
    /// What the service says of the risk, in its own words.
    @Exact public var risks: [String]

    /// An answer about a token that was made then; all else is absent.
    public init(made: Instant) {
        self.made = made
        hostname = nil
        action = nil
        androidPackage = nil
        bundleID = nil
        risks = []
    }
}

/// What a service says of the token of a page.
public enum WebTokenVerdict: Sendable {
    /// It is genuine.
    case genuine(WebTokenAnswer)
    /// It is not; the detail is for records, and holds nothing of the token or of a secret.
    case refused(WebTokenProblem, detail: String?)
}

/// What services say of pages: the same facts from all of them, so that a rule can judge all.
public enum WebTokenFacts {
    /// The host of the page.
    public static let hostname: FactName = "web_host"
    /// What the page made the token for.
    public static let action: FactName = "web_action"
    /// How long ago the token was made.
    public static let age = FactName("web_token_age", .duration)
    /// The score in hundredths, from 0 to 100: for hCaptcha 100 is bad, for the others it is good.
    public static let score = FactName("web_score", .integer)
    /// What the service says of the risk, with spaces between; absent when it says nothing.
    public static let risks: FactName = "web_risks"
    /// The package or the bundle identifier of an app that is no page.
    public static let app: FactName = "web_app"

    /// All of them.
    public static let all = [hostname, action, age, score, risks, app]

    static func of(_ answer: WebTokenAnswer, at now: Instant) -> [Fact] {
        var facts = [Fact(age, .duration(.seconds(max(0, (now - answer.made).wholeSeconds))))]
        if let score = answer.score { facts.append(Fact(self.score, .integer(Int64((score * 100).rounded())))) }
        let texts = [
            (hostname, answer.hostname), (action, answer.action), (app, answer.androidPackage ?? answer.bundleID),
            (risks, answer.risks.isEmpty ? nil : answer.risks.joined(separator: " ")),
        ]
        for (name, text) in texts {
            if let text { facts.append(Fact(name, cutting: text)) }
        }
        return facts
    }
}

/// Texts from outside, for details of records.
enum WebText {
    /// A text, short; `absent` for none.
    static func quoted(_ text: String?) -> String {
        guard let text else { return "absent" }
        return text.utf8.count <= 128 ? "'\(text)'" : "'\(String(decoding: text.utf8.prefix(128), as: UTF8.self))…'"
    }
}
