import AssayCore

/// The section `door_lock` of an app's providers in a policy.
public struct DoorLockConfiguration: DescribedConfiguration, Sendable {
    /// A client, and where its key is.
    public struct Client: DescribedConfiguration, Sendable {
        let name: String
        let key: SecretReference

        /// What the keys mean, for editors and for the documentation.
        public static let keys: [ExactText: PolicyKey] = [
            "name": PolicyKey("What the client calls itself.", examples: ["client-1"]),
            "key": "Where the client's key is: `env:NAME` or `file:PATH`. The key has 32 bytes or more.",
        ]
    }

    let clients: [Client]

    /// What the keys mean, for editors and for the documentation.
    public static let keys: [ExactText: PolicyKey] = [
        "clients": PolicyKey("The clients that are trusted.", .notEmpty)
    ]
}
