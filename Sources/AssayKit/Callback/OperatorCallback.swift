public import AssayCore

/// Asks the operator's backend a question that only the operator can answer: yes or no.
///
/// The question is a `POST` with JSON and the operator's bearer token. The answer is `{"allow": true}` or `{"allow": false}` with status
/// 200; only an explicit yes allows, only an explicit no refuses, and any other answer leaves the question undecided.
///
/// Only so many questions are on their way at a time: in total, for one requester, and for one peer. Otherwise one client with one
/// genuine device could hold all places while the backend is slow.
public final class OperatorCallback: Sendable {
    /// The most concurrent questions of one instance.
    public static let width = 64
    /// An answer is a small object.
    private static let responseLimit = 4096
    /// The least time for which a question is started, and the part of the deadline that is kept for the answer.
    private static let leastTime = Duration.milliseconds(50)
    private static let reserve = Duration.milliseconds(100)

    /// Who a question is asked for.
    public struct Requester: Sendable, Hashable {
        /// The user, or the token if there is none, or what else tells requesters apart.
        public let subject: ExactText
        /// Where the request came from; nil within a process.
        public let peer: FloodSource?

        /// Names a requester.
        public init(subject: ExactText, peer: FloodSource?) {
            self.subject = subject
            self.peer = peer
        }
    }

    /// How a question ended, as a metric counts it.
    @nonexhaustive public enum Result: String, Sendable, CaseIterable {
        /// The backend said yes.
        case allowed
        /// The backend said no.
        case refused
        /// No answer, or none that says yes or no.
        case failed
        /// Not asked, because too many questions were on their way.
        case crowded
    }

    private let url: EndpointURL
    private let authorization: String
    private let timeLimit: Duration
    private let host: PluginHost
    private let name: String
    private let counted: @Sendable (Result) -> Void
    private let places = CallbackCapacity(width: width)

    /// Reads the secret of a section.
    ///
    /// - Parameters:
    ///   - path: where the section is in that of the plugin.
    ///   - name: what the callback is for, in the details of records: `the callback for Fleet Engine`.
    ///   - counted: takes how each question ended, for a metric of the plugin.
    /// - Throws: the errors in the section, by the paths of their keys.
    public init(
        _ configuration: OperatorCallbackConfiguration, at path: [ConfigurationError.Component], host: PluginHost,
        name: String, counted: @escaping @Sendable (Result) -> Void = { _ in }
    ) throws(ConfigurationError) {
        let bytes = try host.secrets.required(configuration.token, at: path + ["token"])
        guard let token = String(validating: bytes, as: UTF8.self).flatMap({ BearerToken($0) }) else {
            throw ConfigurationError(
                at: path + ["token"], "\(configuration.token) holds no bearer token: letters, digits and -._~+/= only")
        }
        let limit = configuration.timeLimit ?? OperatorCallbackConfiguration.standardTimeLimit
        guard OperatorCallbackConfiguration.timeLimits.contains(limit) else {
            throw ConfigurationError(at: path + ["time_limit"], "expected 1s to 5s")
        }
        url = configuration.url
        authorization = "Bearer \(token.text)"
        timeLimit = limit
        self.host = host
        self.name = name
        self.counted = counted
    }

    /// What the backend says.
    ///
    /// - Parameters:
    ///   - question: the body of the request, an object.
    ///   - deadline: when the caller must have its answer; a tenth of a second is kept for that answer.
    /// - Throws: `CallFailure` with `UNAVAILABLE` when the backend gives no clear answer.
    public func allows(
        _ question: JSON, for requester: Requester, deadline: Instant
    ) async throws(CallFailure) -> Bool {
        guard places.enter(requester) else { throw undecided(.crowded, "too many questions are on their way") }
        defer { places.leave(requester) }
        let time = min(timeLimit, deadline - Self.reserve - host.clock.now)
        guard time >= Self.leastTime else { throw undecided(.failed, "no time is left for a question") }
        let response: OutboundResponse
        do throws(OutboundFailure) {
            response = try await host.http.send(
                OutboundRequest(
                    .post, url,
                    headers: [
                        OutboundHeader("Authorization", authorization),
                        OutboundHeader("Content-Type", "application/json"),
                        OutboundHeader("Accept", "application/json"),
                    ],
                    body: question.encoded, timeLimit: time, responseLimit: Self.responseLimit))
        } catch {
            throw undecided(.failed, error.code.text)
        }
        guard response.status == 200 else { throw undecided(.failed, "status \(response.status)") }
        let limits = JSON.Limits(bytes: Self.responseLimit, depth: 8, values: 64, allowsRepeatedNames: false)
        guard let answer = try? JSON.parse(response.body, limits: limits), let allows = answer["allow"]?.bool else {
            throw undecided(.failed, "200 without a truth value in `allow`")
        }
        counted(allows ? .allowed : .refused)
        return allows
    }

    private func undecided(_ result: Result, _ detail: String) -> CallFailure {
        counted(result)
        return CallFailure(
            .unavailable, "The service is currently unavailable.", detail: "\(name): \(detail)",
            retryAfter: .seconds(1))
    }
}

extension OperatorCallback.Requester {
    /// The user of a request to a consumer, or its token if there is no user.
    public init(_ context: ConsumerContext) {
        let user = context.actor.map { "\($0.issuer)\n\($0.subject)" }
        self.init(
            subject: ExactText(user ?? context.token?.id ?? ""), peer: context.peer.map { FloodSource($0) })
    }

    /// The device or the user that evidence is of, and its peer.
    public init(subject: String, _ context: ProviderContext) {
        self.init(subject: ExactText(subject), peer: context.peer.map { FloodSource($0) })
    }
}
