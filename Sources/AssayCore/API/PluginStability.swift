/// How far operators can rely on a plugin.
@nonexhaustive public enum PluginStability: String, Sendable, Hashable, CaseIterable {
    /// Anything may change.
    case experimental
    /// Its configuration, reasons and facts change only with a notice in the release before.
    case stable
    /// It will be removed; its summary says what replaces it.
    case deprecated
}

/// What a plugin proves, and whom it has to trust for that: for the person who decides whether to use it.
public struct SecurityPosture: Sendable, Hashable {
    /// What is known of a client whose evidence or request was accepted, in one sentence.
    @Exact public private(set) var proves: String
    /// Who or what could make the plugin accept something false, a few words each.
    @Exact public private(set) var trusts: [String]

    /// Makes a posture from what is proven and what is trusted.
    public init(proves: String, trusts: [String]) {
        self.proves = proves
        self.trusts = trusts
    }
}
