public import AssayCore
public import AssayPolicy

/// A place that the policies of a service are read from, as often as they change: a folder, or a signed bundle.
public protocol PolicySource: Sendable {
    /// The state of the files that the policies are read from, by which changes are seen.
    var fingerprint: FileFingerprint { get }

    /// Reads the policies as they are now; what is wrong with them, or why there are none, is in their `problems`.
    func read() -> PolicySet

    /// Takes note that the policies of the last ``read()`` took effect, or are those in force already.
    func didTakeEffect()

    /// Makes what serves under the policies of the place, at the start of a service.
    ///
    /// By default, `make` is called once with the policies that ``read()`` gives.
    ///
    /// - Parameter make: throws when it does not accept policies, as `Engine.init` does.
    /// - Returns: what was made, and the policies that it was made with.
    /// - Throws: what `make` throws.
    func start<Value>(_ make: (PolicySet) throws -> Value) throws -> (value: Value, policies: PolicySet)
}

extension PolicySource {
    /// Does nothing.
    public func didTakeEffect() {}

    /// Calls `make` with the policies as they are now.
    public func start<Value>(_ make: (PolicySet) throws -> Value) throws -> (value: Value, policies: PolicySet) {
        let policies = read()
        return (try make(policies), policies)
    }
}

extension PolicyDirectory: PolicySource {}
