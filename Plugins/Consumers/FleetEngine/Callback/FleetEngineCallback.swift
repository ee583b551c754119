internal import AssayCore
internal import AssayKit

/// Asks the operator's backend whether a token may be given.
///
/// Only an explicit yes allows it and only an explicit no refuses it; any other answer leaves it undecided.
final class FleetEngineCallback: Sendable {
    /// The most concurrent questions.
    static let width = 64
    /// An answer is a small object.
    private static let responseLimit = 4096
    /// The least time for which a question is started, and the part of the deadline that is kept for the answer.
    private static let leastTime = Duration.milliseconds(50)
    private static let reserve = Duration.milliseconds(100)

    private let url: EndpointURL
    private let authorization: String
    private let timeLimit: Duration
    private let host: PluginHost
    private let places = CallbackPlaces(width: width)

    init(
        _ configuration: FleetEngineCallbackConfiguration, at path: [ConfigurationError.Component], host: PluginHost
    ) throws(ConfigurationError) {
        let found: [UInt8]?
        do throws(SecretError) {
            found = try host.secrets.resolve(configuration.token)
        } catch {
            throw ConfigurationError(at: path + ["token"], error.message)
        }
        guard let bytes = found else {
            throw ConfigurationError(at: path + ["token"], "\(configuration.token) is not set")
        }
        guard let token = String(validating: bytes, as: UTF8.self).flatMap({ BearerToken($0) }) else {
            throw ConfigurationError(
                at: path + ["token"], "\(configuration.token) holds no bearer token: letters, digits and -._~+/= only")
        }
        let limit = configuration.timeLimit ?? FleetEngineCallbackConfiguration.standardTimeLimit
        guard FleetEngineCallbackConfiguration.timeLimits.contains(limit) else {
            throw ConfigurationError(at: path + ["time_limit"], "expected 1s to 5s")
        }
        url = configuration.url
        authorization = "Bearer \(token.text)"
        timeLimit = limit
        self.host = host
    }

    /// What the backend says.
    ///
    /// - Throws: `CallFailure` with `UNAVAILABLE` when the backend gives no clear answer.
    func allows(_ claims: FleetEngineClaims, _ context: ConsumerContext) async throws(CallFailure) -> Bool {
        let requester = CallbackPlaces.Requester(context)
        guard places.enter(requester) else { throw undecided(.crowded, "too many questions are on their way") }
        defer { places.leave(requester) }
        let time = min(timeLimit, context.deadline - Self.reserve - host.clock.now)
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
                    body: Self.question(claims, context).encoded, timeLimit: time, responseLimit: Self.responseLimit))
        } catch {
            throw undecided(.failed, error.code.text)
        }
        guard response.status == 200 else { throw undecided(.failed, "status \(response.status)") }
        let limits = JSON.Limits(bytes: Self.responseLimit, depth: 8, values: 64, allowsRepeatedNames: false)
        guard let answer = try? JSON.parse(response.body, limits: limits), let allows = answer["allow"]?.bool else {
            throw undecided(.failed, "200 without a truth value in `allow`")
        }
        host.meter.add(to: FleetEngineMetrics.callbacks, (allows ? CallbackResult.allowed : .refused).rawValue)
        return allows
    }

    /// The content of the question to the backend.
    private static func question(_ claims: FleetEngineClaims, _ context: ConsumerContext) -> JSON {
        var ids: [JSONMember] = []
        for entity in FleetEngineEntity.allCases {
            guard let list = claims.ids[entity] else { continue }
            ids.append(JSONMember(entity.rawValue, .array(list.map { .string($0.text) })))
        }
        let user = context.actor.map { actor -> JSON in
            ["iss": .string(actor.issuer), "sub": .string(actor.subject)]
        }
        return [
            "decision": .string(context.decision.text), "project": .string(context.project.id),
            "role": .string(claims.role.rawValue), "ids": .object(ids),
            "app": context.app.map { .string($0.subject) } ?? .null, "actor": user ?? .null,
            "jti": context.token.map { .string($0.id) } ?? .null,
        ]
    }

    private func undecided(_ result: CallbackResult, _ detail: String) -> CallFailure {
        host.meter.add(to: FleetEngineMetrics.callbacks, result.rawValue)
        return CallFailure(
            .unavailable, "The service is currently unavailable.", detail: "the callback for Fleet Engine: \(detail)",
            retryAfter: .seconds(1))
    }
}
