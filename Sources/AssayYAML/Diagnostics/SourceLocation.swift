public import AssayKit

/// A place in a policy file, as editors count: lines and columns from 1, columns in characters (Unicode scalars).
public struct SourceLocation: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The file as the operator named it.
    @Exact public private(set) var file: String
    public let line: Int
    public let column: Int

    package init(file: String, line: Int, column: Int) {
        self.file = file
        self.line = line
        self.column = column
    }

    /// `file:line:column`.
    public var description: String { "\(file):\(line):\(column)" }

    public static func < (left: SourceLocation, right: SourceLocation) -> Bool {
        (ExactText(left.file), left.line, left.column) < (ExactText(right.file), right.line, right.column)
    }
}
