public import AssayCore

/// The operator's backend that says yes or no, and how it recognises this server: a section that any plugin can have in its own.
///
///     callback: {url: https://backend.example.com/allow, token: env:CALLBACK}
public struct OperatorCallbackConfiguration: DescribedConfiguration, Sendable {
    /// How long an answer may take.
    public static let timeLimits: ClosedRange<Duration> = .seconds(1)...Duration.seconds(5)
    static let standardTimeLimit = Duration.seconds(2)

    /// The URL that is called with POST.
    public let url: EndpointURL
    /// The secret that is sent with each call as `Authorization: Bearer`.
    public let token: SecretReference
    /// How long an answer is waited for; two seconds when absent.
    public let timeLimit: Duration?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case url, token
        case timeLimit = "time_limit"
    }

    /// The keys of this part of a policy, with their descriptions.
    public static let keys: [ExactText: PolicyKey] = [
        "url": PolicyKey(
            "The URL that is called with POST. It must answer 200 with `{\"allow\": true}` or `{\"allow\": false}`.",
            examples: ["https://backend.example.com/fleet-engine"], development: .none),
        "token": PolicyKey(
            """
            The location of the secret that is sent with each call as `Authorization: Bearer`: `file:PATH` or \
            `env:NAME`.
            """),
        "time_limit": PolicyKey("The longest wait for an answer.", .durations(timeLimits), standard: "2s"),
    ]
}
