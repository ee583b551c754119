internal import AssayCore

/// A statement that each connection prepares once, under a name.
struct Statement: Sendable {
    let name: ExactText
    let sql: String
    /// The object identifiers of the parameters' types; 0 lets the server find out.
    let types: [UInt32]

    init(_ name: String, _ types: [UInt32], _ sql: String) {
        self.name = ExactText(name)
        self.types = types
        self.sql = sql
    }

    /// `bytea`, `int8` and `text`, which have the same numbers in every PostgreSQL.
    static let bytea: UInt32 = 17
    static let int8: UInt32 = 20
    static let text: UInt32 = 25
}

/// The values that a statement can be run with.
enum Parameter: Sendable {
    case null
    case integer(Int64)
    case bytes([UInt8])
    /// Text that the server reads in the form of the parameter's type.
    case text(String)

    /// The bytes of a text, compared as bytes.
    static func utf8(_ text: String) -> Parameter { .bytes(Array(text.utf8)) }

    /// Milliseconds since 1970, or NULL.
    static func time(_ instant: Instant?) -> Parameter { instant.map { .integer($0.milliseconds) } ?? .null }

    /// What is sent; nil for NULL.
    var encoded: [UInt8]? {
        switch self {
        case .null: nil
        case .integer(let number): withUnsafeBytes(of: number.bigEndian) { Array($0) }
        case .bytes(let bytes): bytes
        case .text(let text): Array(text.utf8)
        }
    }

    /// Libpq's number of the format: 1 for binary.
    var format: CInt {
        if case .text = self { 0 } else { 1 }
    }
}

/// One run of a statement.
struct Step: Sendable {
    let statement: Statement
    let parameters: [Parameter]

    init(_ statement: Statement, _ parameters: [Parameter] = []) {
        self.statement = statement
        self.parameters = parameters
    }
}

/// What a statement returned.
struct Table: Sendable {
    /// The rows; a column is nil for NULL.
    var rows: [[[UInt8]?]] = []
    /// How many rows it changed.
    var changed = 0

    /// A column of bytes; empty for NULL.
    func bytes(_ row: Int, _ column: Int) -> [UInt8] { self[row, column] ?? [] }

    func text(_ row: Int, _ column: Int) -> String { String(decoding: bytes(row, column), as: UTF8.self) }

    /// A column of `int8` or `int4`; nil for NULL.
    func integer(_ row: Int, _ column: Int) -> Int64? {
        guard let bytes = self[row, column] else { return nil }
        if bytes.count == 4 { return Int64(Int32(truncatingIfNeeded: Self.number(bytes))) }
        return bytes.count == 8 ? Int64(truncatingIfNeeded: Self.number(bytes)) : nil
    }

    func bool(_ row: Int, _ column: Int) -> Bool { bytes(row, column) == [1] }

    private static func number(_ bytes: [UInt8]) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }

    private subscript(row: Int, column: Int) -> [UInt8]? {
        guard rows.indices.contains(row), rows[row].indices.contains(column) else { return nil }
        return rows[row][column]
    }
}
