public import AssayKit

extension RiskMetricConfiguration: DescribedConfiguration {
    public static let keys: [ExactText: PolicyKey] = [
        "key_id": PolicyKey(
            "The identifier of the team's key for DeviceCheck: ten capital letters and digits.",
            .pattern("^[A-Z0-9]{10}$"), examples: ["ABC123DEFG"]),
        "private_key": "Where the `.p8` file of that key is to be found: `file:PATH` or `env:NAME`.",
        "authorization": PolicyKey(
            "How the token stands in the header `Authorization`: alone, or behind `Bearer`.", standard: "bare"),
        "base_url": PolicyKey(
            "Where receipts of the production environment are exchanged.", standard: "https://data.appattest.apple.com"),
        "development_base_url": PolicyKey(
            "Where receipts of the development environment are exchanged.",
            standard: "https://data-development.appattest.apple.com"),
        "refresh_interval": PolicyKey(
            "How old a receipt is before it is exchanged again; as soon as Apple allows, a day, when absent.",
            .durations(.seconds(86_400)...Duration.seconds(80 * 86_400)), examples: ["7d"]),
        "refuse_above": PolicyKey(
            "The metric above which evidence is refused; never when absent. Apple calls the metric a signal.",
            .range(0...Int.max), examples: [20]),
        "unknown": PolicyKey(
            "What is done about keys whose metric is not known, with `refuse_above` only.", standard: "allowed"),
    ]
}
