import AssayCore

/// The section `visitor_pass` of a project's consumers in a policy.
public struct VisitorPassConfiguration: DescribedConfiguration, Sendable {
    static let lifetimes = Duration.seconds(60)...Duration.seconds(3600)

    let audience: String
    let purposes: [String]
    let lifetime: Duration

    /// What the keys mean, for editors and for the documentation.
    public static let keys: [ExactText: PolicyKey] = [
        "audience": PolicyKey("The service that passes are for: `aud`.", examples: ["https://desk.example.com"]),
        "purposes": PolicyKey("What passes may be for.", .notEmpty, examples: [["delivery"]]),
        "lifetime": PolicyKey("How long a pass is valid.", .durations(lifetimes), examples: ["5m"]),
    ]
}
