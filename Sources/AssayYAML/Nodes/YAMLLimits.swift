/// What a policy file may cost.
package struct YAMLLimits: Sendable, Hashable {
    /// The longest file, in bytes.
    package var bytes: Int
    /// The deepest nesting of sequences and mappings.
    package var depth: Int
    /// The most values, those that aliases repeat included.
    package var nodes: Int

    package init(bytes: Int = 16 << 20, depth: Int = 32, nodes: Int = 1_000_000) {
        self.bytes = bytes
        self.depth = depth
        self.nodes = nodes
    }

    /// 16 MiB, 32 levels, 1,000,000 values: room for 10,000 apps.
    package static let `default` = YAMLLimits()
}
