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

    /// `bool`, `bytea`, `int8`, `int4` and `text`, which have the same numbers in every PostgreSQL.
    static let bool: UInt32 = 16
    static let bytea: UInt32 = 17
    static let int8: UInt32 = 20
    static let int4: UInt32 = 23
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
