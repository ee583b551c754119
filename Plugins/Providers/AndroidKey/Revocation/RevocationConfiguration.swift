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

    /// Where the list is; at Google's when absent.
    public let list: RevocationListPlace?
    /// From which age on the list is stale; a week when absent.
    public let staleAfter: Duration?
    /// What happens then; `refuse` when absent.
    public let stale: Stale?

    enum CodingKeys: String, CodingKey {
        case list
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
        "list": PolicyKey(
            """
            Where the list of revoked certificates is, in the form that Google publishes: a URL, or the absolute path of a file, which is read again when it changes.
            """, standard: .string(google)),
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

/// Where a list of revoked certificates is: a URL, or the absolute path of a file.
public struct RevocationListPlace: WrittenAsText, Sendable {
    /// The form of a place in policies.
    public static let textForm = TextForm(
        "A URL, or an absolute path.", pattern: "^(https://|http://(localhost|127\\.0\\.0\\.1|\\[::1\\])[:/]|/).+$",
        examples: ["https://mirror.example.com/android-status.json", "/etc/assay/android-status.json"])

    let source: RevocationWatch.Source

    /// Reads a text.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        if text.utf8.first == UInt8(ascii: "/"), (2...4096).contains(text.utf8.count) {
            source = .file(text)
        } else if let url = EndpointURL(text) {
            source = .url(url)
        } else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "expected an https URL, or the absolute path of a file")
        }
    }
}
