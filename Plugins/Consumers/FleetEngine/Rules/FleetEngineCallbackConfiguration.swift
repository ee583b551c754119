public import AssayKit

/// The operator's backend that says yes or no, and what it knows us by.
public struct FleetEngineCallbackConfiguration: Decodable, Sendable {
    /// How long it may take.
    static let timeLimits: ClosedRange<Duration> = .seconds(1)...Duration.seconds(5)
    static let standardTimeLimit = Duration.seconds(2)

    /// What is called, by POST.
    public let url: EndpointURL
    /// The secret that goes with each call as `Authorization: Bearer`.
    public let token: SecretReference
    /// How long an answer is waited for; two seconds when absent.
    public let timeLimit: Duration?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case url, token
        case timeLimit = "time_limit"
    }
}
