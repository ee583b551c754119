public import AssayCore

/// What can be wrong with the token of a page.
public enum WebTokenProblem: String, Sendable, CaseIterable {
    /// The service says that the token is none of its own, or does not say what is wrong with it.
    case refused = "token_refused"
    /// The service says that the token was checked before, or is too old, and does not say which.
    case spent = "token_spent"
    /// The service says that the token is too old.
    case expired = "token_expired"
    /// The service says that the token was checked before.
    case duplicate = "token_duplicate"
    /// The service could not look at the browser.
    case browser = "browser_error"
    /// The token is of a page that the policy does not have.
    case host = "host_mismatch"
    /// The token is of an app that the policy does not have.
    case app = "app_mismatch"
    /// The token was made for an action that the policy does not have.
    case action = "action_mismatch"
    /// The challenge was solved too long ago.
    case tooOld = "token_too_old"
    /// The challenge was solved in the future.
    case inFuture = "token_in_future"
    /// The service takes the user for a program.
    case score = "low_score"
    /// The token was exchanged here before.
    case used = "token_used"
    /// The service refused many tokens of the peer.
    case limited = "token_limited"
}

/// Why the token of a page is refused, under the codes of one provider.
public struct WebTokenReasons: Sendable {
    private let reasons: [WebTokenProblem: Reason]

    /// - Parameters:
    ///   - prefix: what the codes begin with: `turnstile` makes `turnstile_token_spent`.
    ///   - service: the service's name for people.
    ///   - absent: what the service cannot say.
    public init(prefix: String, service: String, without absent: Set<WebTokenProblem> = []) {
        var reasons: [WebTokenProblem: Reason] = [:]
        for problem in WebTokenProblem.allCases where !absent.contains(problem) {
            let (summary, advice) = problem.words(service)
            // After 403 a page would be silent for a day, because of a guess.
            reasons[problem] = Reason(
                "\(prefix)_\(problem.rawValue)", summary, advice: advice,
                status: problem == .score ? .tooManyRequests : .forbidden)
        }
        self.reasons = reasons
    }

    /// The reason for a problem; that for ``WebTokenProblem/refused`` for one that the service cannot say.
    public subscript(problem: WebTokenProblem) -> Reason {
        reasons[problem] ?? reasons[.refused] ?? Reason(problem.rawValue, "")
    }

    /// All of them, in the order of the problems.
    public var all: [Reason] { WebTokenProblem.allCases.compactMap { reasons[$0] } }
}

extension WebTokenProblem {
    /// The sentence for people, and what an operator does about it.
    fileprivate func words(_ service: String) -> (summary: String, advice: String) {
        switch self {
        case .refused:
            (
                "\(service) says that the token is invalid.",
                "A single case is a made-up token. If all fail, compare the page's site key with the account of the policy's secret."
            )
        case .spent:
            (
                "\(service) says that the token is too old, or was checked before.",
                "Let the page get a new token for each exchange, right before it. Nobody else may check the page's tokens."
            )
        case .expired:
            ("\(service) says that the token is too old.", "Let the page get a new token right before each exchange.")
        case .duplicate:
            (
                "\(service) says that the token was checked before.",
                "Let the page get a new token for each exchange. Nobody else may check the page's tokens."
            )
        case .browser:
            (
                "\(service) could not look at the browser.",
                "The user's browser or its extensions stopped the page's script: another try or another browser may help."
            )
        case .host:
            (
                "The token is of a page that the policy does not have.",
                "The detail has both hosts. Add the page's origin to `web.origins`; otherwise another site uses your site key: limit the key's hosts at the service."
            )
        case .app:
            (
                "The token is of an app that the policy does not have.",
                "The detail has both names. Compare them with the app's sections `android` and `apple`."
            )
        case .action:
            (
                "The token was made for another action.",
                "The detail has both. Let the page name one of the policy's `actions` when it asks for the token."
            )
        case .tooOld:
            (
                "The token was made too long ago.",
                "Let the page get a new token right before each exchange. If new tokens fail, correct the clock of this server."
            )
        case .inFuture: ("The token was made in the future.", "Correct the clock of this server.")
        case .score:
            (
                "\(service) takes the user for a program.",
                "The detail has the score and the limit. If many genuine users fail, try another limit with a rule over `web_score` in shadow."
            )
        case .used:
            (
                "The token was exchanged before.",
                "Let the page get a new token for each exchange, also when it tries again."
            )
        case .limited:
            (
                "\(service) refused many tokens of the peer, so this one was not checked.",
                """
                Wait: the address is admitted again automatically. If many genuine users share it, find out which address the server sees \
                (`--trusted-proxy`).
                """
            )
        }
    }
}
