/// A part of a policy that describes its keys, for the JSON Schema by which editors complete and check policies.
///
/// The keys, their types and which of them are required are derived from the type's decoding and need not be repeated.
/// A configuration without descriptions has a schema, too, without explanations and rules.
public protocol DescribedConfiguration: Decodable {
    /// What each key means, by its name in the policy.
    static var keys: [ExactText: PolicyKey] { get }

    /// Groups of keys of which exactly one must be present; none by default.
    static var alternatives: [[String]] { get }
}

extension DescribedConfiguration {
    /// No groups of alternative keys.
    public static var alternatives: [[String]] { [] }
}
