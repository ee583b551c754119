internal import Synchronization

/// The secrets that policies refer to and that a check does not read, because they are not on its machine.
///
///     let withheld = WithheldSecrets()
///     host.secrets = .withholding(withheld)
///     try policies.check(registry, host: host)
///     print(withheld.count)
public final class WithheldSecrets: Sendable {
    private let asked = Mutex<Set<SecretReference>>([])

    /// What a plugin is told in the place of a secret; an error with this text in its message is not reported.
    static let message = "secrets are not read in this check"

    /// Makes an empty list.
    public init() {}

    /// How many different references were asked for.
    public var count: Int { references.count }

    /// The references that were asked for.
    package var references: Set<SecretReference> { asked.withLock { $0 } }

    /// Adds the references of another list.
    package func add(_ other: WithheldSecrets) {
        let references = other.references
        asked.withLock { $0.formUnion(references) }
    }

    /// Whether an error only passes on that a secret was not read.
    package static func isNamed(in message: String) -> Bool { message.utf8.contains(Self.message.utf8) }

    fileprivate func add(_ reference: SecretReference) {
        asked.withLock { _ = $0.insert(reference) }
    }
}

extension SecretSource {
    /// A source that reads nothing: it lists what it is asked for.
    ///
    /// A check of policies with it (`PolicySet.check`) makes no instance of a plugin that needs a secret, and leaves out the errors that follow from
    /// that: those that repeat the source's, and those at a value that is, or contains, such a reference. All else is checked.
    public static func withholding(_ list: WithheldSecrets) -> SecretSource {
        var source = SecretSource { (reference, _) throws(SecretError) in
            list.add(reference)
            throw SecretError(WithheldSecrets.message)
        }
        source.withheld = list
        return source
    }
}
