/// A line and a column from 1, small because every node carries one.
struct YAMLPosition: Sendable, Hashable {
    let line: UInt32
    let column: UInt32

    static let start = YAMLPosition(line: 1, column: 1)
}
