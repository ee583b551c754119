/// The revision of a set of policies: what its files say, in short.
public struct PolicyRevision: Sendable, Hashable, CustomStringConvertible {
    /// The first 16 hexadecimal digits of a SHA-256 over the names and the bytes of all files.
    @Exact public private(set) var hash: String
    /// The operator's own name for it, which the policies have under `revision`; nil for none.
    @Exact public private(set) var label: String?

    /// Makes a revision from its parts.
    public init(hash: String, label: String? = nil) {
        self.hash = hash
        self.label = label
    }

    /// `LABEL@HASH`, or the hash alone.
    public var description: String { label.map { "\($0)@\(hash)" } ?? hash }
}
