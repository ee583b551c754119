public import AssayKit

/// What the tokens of a provider say of an app: numbers of AR4SI, from -128 to 127; a claim that is absent is not made.
public struct TrustworthinessConfiguration: Decodable, Sendable {
    let numbers: [TrustworthinessVector.Claim: Int]

    enum CodingKeys: String, CodingKey, CaseIterable {
        case instanceIdentity = "instance-identity"
        case configuration
        case executables
        case fileSystem = "file-system"
        case hardware
        case runtimeOpaque = "runtime-opaque"
        case storageOpaque = "storage-opaque"
        case sourcedData = "sourced-data"
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        var numbers: [TrustworthinessVector.Claim: Int] = [:]
        for key in CodingKeys.allCases {
            guard let claim = TrustworthinessVector.Claim(exactly: key.rawValue) else { continue }
            numbers[claim] = try container.decodeIfPresent(Int.self, forKey: key)
        }
        self.numbers = numbers
    }
}

extension TrustworthinessConfiguration: DescribedConfiguration {
    public static let keys: [ExactText: PolicyKey] = [
        "instance-identity": key("Whether the instance is known, and not compromised."),
        "configuration": key("Whether it is configured as it should be."),
        "executables": key("Whether the right programs run."),
        "file-system": key("Whether its files are the right ones."),
        "hardware": key("Whether the device is genuine."),
        "runtime-opaque": key("Whether others on the device can look into its memory."),
        "storage-opaque": key("Whether others can read what it stores."),
        "sourced-data": key("Whether what it was told by others is to be trusted."),
    ]

    private static func key(_ text: String) -> PolicyKey {
        PolicyKey("\(text) A number of AR4SI.", .range(TrustworthinessVector.range))
    }
}
