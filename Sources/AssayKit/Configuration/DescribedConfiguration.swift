/// A part of a policy that says what its keys mean, for the JSON Schema by which editors complete and check policies.
///
/// Which keys there are, of what types, and which must be there is seen from the type's own decoding: it need not be
/// said again. A configuration that describes nothing has a schema too, only without words and without rules.
public protocol DescribedConfiguration: Decodable {
    /// What each key means, by its name in the policy.
    static var keys: [ExactText: PolicyKey] { get }

    /// Groups of keys of which exactly one must be there; none by default.
    static var alternatives: [[String]] { get }
}

extension DescribedConfiguration {
    public static var alternatives: [[String]] { [] }
}
