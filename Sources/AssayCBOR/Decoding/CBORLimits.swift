/// What decoding one item may cost.
public struct CBORLimits: Sendable, Hashable {
    /// The longest input, in bytes.
    public var bytes: Int
    /// The deepest nesting of arrays, maps and tags; never more than ``greatestDepth``, whatever is asked for.
    public var depth: Int { didSet { depth = min(depth, Self.greatestDepth) } }
    /// The most data items: each array, map, tag, key and element counts, and each chunk of a string.
    public var items: Int

    /// Values are compared and freed recursively, so that no limit goes beyond this.
    public static let greatestDepth = 256

    public init(bytes: Int, depth: Int, items: Int) {
        self.bytes = bytes
        self.depth = min(depth, Self.greatestDepth)
        self.items = items
    }

    /// For evidence that a device sends: 64 KiB, 8 levels, 256 items.
    public static let evidence = CBORLimits(bytes: 64 << 10, depth: 8, items: 256)
    /// For other input: 1 MiB, 64 levels, 65,536 items.
    public static let generic = CBORLimits(bytes: 1 << 20, depth: 64, items: 1 << 16)
}
