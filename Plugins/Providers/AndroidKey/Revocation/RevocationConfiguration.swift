public import AssayCore

/// The part `revocation`: which certificates of devices are not to be trusted any more.
public struct RevocationConfiguration: Decodable, Sendable {
    /// What happens when the list could not be renewed for too long.
    public enum Stale: String, Decodable, Sendable, CaseIterable {
        /// Nothing is decided until it is renewed.
        case refuse
        /// The old list is used.
        case accept
    }

    /// Where the list is; Google's when absent.
    public let url: EndpointURL?
    /// A file with a list, in place of a URL.
    public let file: String?
    /// From which age on the list is stale; a week when absent.
    public let staleAfter: Duration?
    /// What happens then; `refuse` when absent.
    public let stale: Stale?

    enum CodingKeys: String, CodingKey {
        case url, file
        case staleAfter = "stale_after"
        case stale
    }

    static let ages: ClosedRange<Duration> = .seconds(3600) ... .seconds(366 * 86_400)
    static let standardAge = Duration.seconds(7 * 86_400)
    static let google = "https://android.googleapis.com/attestation/status"
}

extension RevocationConfiguration: DescribedConfiguration {
    /// The keys of this part of a policy, with their descriptions.
    public static let keys: [ExactText: PolicyKey] = [
        "url": PolicyKey(
            "Where the list of revoked certificates is, in the form that Google publishes.", standard: .string(google)),
        "file": PolicyKey(
            "The absolute path of a file with the list, in place of a URL. It is read again when it changes.",
            examples: ["/etc/assay/android-status.json"]),
        "stale_after": PolicyKey(
            "How old the list may become when it cannot be renewed, before `stale` counts. For a file, by the time of its change.",
            .durations(ages), standard: "7d"),
        "stale": PolicyKey(
            """
            What happens when the list is too old: nothing is decided until it is renewed, and clients are told to come back (`refuse`), \
            or the old list is used (`accept`). `/readyz` is degraded in both cases.
            """, standard: "refuse"),
    ]
}
