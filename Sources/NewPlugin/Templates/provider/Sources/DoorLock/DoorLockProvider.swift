import AssayCore
import AssayCrypto
import AssayKit

/// Clients that hold a key of their own: a client proves itself by the HMAC-SHA-256 of a challenge under its key.
public struct DoorLockProvider: AttestationProvider {
    /// The request names a client that the policy does not list.
    public static let unknownClient = Reason(
        "door_lock_client_unknown", "The policy has no client of this name.",
        advice: "Add the client to `clients`, or find out who asks.")
    /// The code was made with another key, or for another challenge.
    public static let wrongCode = Reason(
        "door_lock_code_wrong", "The code is not the one that the client's key gives for the challenge.",
        advice: "Compare the client's key with the key of the policy.")
    /// The name of the client, for rules and records.
    public static let client = FactName("door_lock_client")

    /// What the kernel and operators know of the provider.
    public static let descriptor = PluginDescriptor.provider(
        name: "door_lock", version: "0.1.0", summary: "Clients that hold a key of their own.",
        stability: .experimental,
        posture: SecurityPosture(
            proves: "The client holds a key that the policy lists.",
            trusts: ["everyone who can read that key, on the client or on the server"]),
        reasons: [unknownClient, wrongCode], facts: [client],
        limits: PluginLimits(evidence: 1024, time: .seconds(2), cpuTime: .milliseconds(100), reply: 4096))

    /// What clients call: first for a challenge, then with the code for it.
    public static let methods: [ProviderMethod<DoorLockProvider>] = [
        .challenge("generateDoorLockChallenge"),
        .exchange("exchangeDoorLockCode", challenge: \.challenge) { (provider, code: DoorLockCode, _) in
            provider.appraise(code)
        },
    ]

    private let keys: [ExactText: HMACSHA256]

    /// Reads the keys of the clients.
    ///
    /// - Throws: the errors in the section, each at its place.
    public init(
        _ configuration: DoorLockConfiguration, app: AppIdentity, host: PluginHost
    ) throws(ConfigurationError) {
        var keys: [ExactText: HMACSHA256] = [:]
        for (index, client) in configuration.clients.enumerated() {
            // The message names the place of the key, and never the key.
            guard let key = try? host.secrets.resolve(client.key), key.count >= 32 else {
                throw ConfigurationError(
                    at: ["clients", .index(index), "key"], "\(client.key) cannot be read, or has less than 32 bytes")
            }
            guard keys.updateValue(HMACSHA256(key: key), forKey: ExactText(client.name)) == nil else {
                throw ConfigurationError(at: ["clients", .index(index), "name"], "another client has this name")
            }
        }
        self.keys = keys
    }

    /// A refusal is a value; an error that is thrown means that nothing could be decided.
    func appraise(_ code: DoorLockCode) -> Verdict {
        guard let key = keys[ExactText(code.client)] else { return .refused(Self.unknownClient) }
        guard key.isValid(code.code, for: code.challenge[...]) else { return .refused(Self.wrongCode) }
        return .verified(Appraisal(facts: [Fact(Self.client, .text(code.client))], holder: code.client))
    }
}
