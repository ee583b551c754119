public import AssayKit

extension DeviceCheckConfiguration: DescribedConfiguration {
    public static let keys: [ExactText: PolicyKey] = [
        "key_id": PolicyKey(
            "The identifier of the team's key for DeviceCheck: ten capital letters and digits.",
            .pattern("^[A-Z0-9]{10}$"), examples: ["ABC123DEFG"]),
        "private_key": "Where the `.p8` file of that key is to be found: `file:PATH` or `env:NAME`.",
        "environment": PolicyKey(
            "Which of Apple's servers is asked.", standard: "production", development: .words(["development"])),
        "base_url": "What is asked instead of Apple's server for the environment.",
        "authorization": PolicyKey(
            "How the token stands in the header `Authorization`: alone, or behind `Bearer`.", standard: "bearer"),
        "refuse_when": "Which devices are refused for the two bits that the team keeps of them; none when absent.",
        "allow_reuse": PolicyKey("Whether a device token may be exchanged more than once.", standard: false),
        "remember_for": PolicyKey(
            "How long exchanged tokens are remembered, so that each is exchanged once; a day when absent.",
            .durations(DeviceTokenRules.memories), examples: ["1d"]),
    ]
}
