public import AssayKit

extension FleetEngineConfiguration: DescribedConfiguration {
    public static let keys: [ExactText: PolicyKey] = [
        "provider_id": PolicyKey(
            "The provider's ID at Fleet Engine; the project's ID when absent.", .pattern("^[A-Za-z0-9.:-]{1,63}$"),
            examples: ["example-project"]),
        "audience": PolicyKey(
            "`aud` of the tokens, and the audience that a token exchange names.", .pattern("^[!-~]{1,2048}$"),
            standard: .string(FleetEngineMinter.standardAudience)),
        "token_ttl": PolicyKey(
            "How long tokens live, counted from their `iat`, which is a minute back, if it is the whole hour.",
            .durations(FleetEngineMinter.lives), standard: "1h"),
        "account": PolicyKey(
            """
            Where the key file (JSON) of the service account is to be found that signs for roles without one of their \
            own: `file:PATH` or `env:NAME`.
            """, examples: ["file:/run/secrets/fleet-engine.json"]),
        "callback": "Your backend, which is asked for the roles that have `callback: true`.",
        "fleet_reader_role": PolicyKey(
            "Which role's tokens `/token/fleet_reader` gives.", standard: "delivery_fleet_reader"),
        "roles": "The roles that are given, each to whom its rule says. A role that is not here is given to nobody.",
    ]
}

extension FleetEngineRolesConfiguration: DescribedConfiguration {
    public static let keys: [ExactText: PolicyKey] = [
        "server": "On-demand trips: a backend, for every trip and vehicle.",
        "driver": "On-demand trips: the app of a driver, for its vehicle.",
        "consumer": "On-demand trips: the app of a rider, for a trip.",
        "delivery_server": "Scheduled tasks: a backend, for everything, or for the tasks of a batch.",
        "delivery_consumer": "Scheduled tasks: the recipient of a shipment, for its tracking ID or its task.",
        "untrusted_delivery_driver": "Scheduled tasks: a driver's own phone, which may report where its vehicle is.",
        "trusted_delivery_driver": "Scheduled tasks: a phone that you manage, which may change its vehicle and tasks.",
        "delivery_fleet_reader": "Scheduled tasks: somebody who watches the whole fleet.",
        "fleet_reader": "Somebody who watches the whole fleet, trips and tasks alike.",
        "custom": "Whatever IDs the rule allows, of several kinds at once.",
    ]
}

extension FleetEngineRoleConfiguration.IDs: DescribedConfiguration {
    public static let keys: [ExactText: PolicyKey] = [
        "claim": PolicyKey(
            "The claim of the user's JWT that holds the IDs, one or a list, by its path with dots.", .length(1...256),
            examples: ["vehicle_id"]),
        "any": "Any ID: `true`, where the rule has `actor` or `callback`.",
    ]
    public static let alternatives = [["claim", "any"]]
}

extension FleetEngineRoleConfiguration.Actor: DescribedConfiguration {
    public static let keys: [ExactText: PolicyKey] = [
        "claim": PolicyKey("The claim, by its path with dots.", .length(1...256), examples: ["groups"]),
        "values": PolicyKey("Of these, it must be or hold one.", .notEmpty, examples: [["dispatchers"]]),
    ]
}

extension FleetEngineCallbackConfiguration: DescribedConfiguration {
    public static let keys: [ExactText: PolicyKey] = [
        "url": PolicyKey(
            "What is called, by POST. It must answer 200 with `{\"allow\": true}` or `{\"allow\": false}`.",
            examples: ["https://backend.example.com/fleet-engine"], development: .none),
        "token": PolicyKey(
            """
            Where the secret is to be found that goes with each call as `Authorization: Bearer`: `file:PATH` or \
            `env:NAME`.
            """),
        "time_limit": PolicyKey("How long an answer is waited for.", .durations(timeLimits), standard: "2s"),
    ]
}
