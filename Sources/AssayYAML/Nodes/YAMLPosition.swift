/// A line and a column from 1, small because every node carries two.
struct YAMLPosition: Sendable, Hashable, Comparable {
    let line: UInt32
    let column: UInt32

    static let start = YAMLPosition(line: 1, column: 1)
    /// Behind everything.
    static let end = YAMLPosition(line: .max, column: 1)

    static func < (left: YAMLPosition, right: YAMLPosition) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }
}
