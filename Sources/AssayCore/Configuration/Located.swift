/// A value of a policy with its place in the file, for messages to operators.
///
/// A configuration has `Located<Value>` in the place of `Value`; policies, and the JSON Schema, are the same for both.
public struct Located<Value> {
    /// The decoded value.
    public let value: Value
    /// `FILE:LINE:COLUMN`, where lines and columns count from 1; nil for a value that was not read from a policy file.
    @Exact public private(set) var place: String?

    /// Pairs a value with its place in the form `FILE:LINE:COLUMN`.
    public init(_ value: Value, at place: String? = nil) {
        self.value = value
        self.place = place
    }
}

extension Located: Sendable where Value: Sendable {}
extension Located: Equatable where Value: Equatable {}
extension Located: Hashable where Value: Hashable {}

extension Located: Decodable where Value: Decodable {
    /// Decodes the value, and its place if the policy decoder supplies one.
    public init(from decoder: any Decoder) throws {
        value = try decoder.singleValueContainer().decode(Value.self)
        place = CodingUserInfoKey.place.flatMap { decoder.userInfo[$0] as? String }
    }
}

extension Located: DescribedConfiguration where Value: DescribedConfiguration {
    /// The keys of the value.
    public static var keys: [ExactText: PolicyKey] { Value.keys }
    /// The alternative keys of the value.
    public static var alternatives: [[String]] { Value.alternatives }
}

extension CodingUserInfoKey {
    /// What a decoder tells ``Located`` by: the place of the value that it decodes.
    package static var place: CodingUserInfoKey? { CodingUserInfoKey(rawValue: "assay.place") }
}
