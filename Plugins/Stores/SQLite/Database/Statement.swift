internal import AssayCore
internal import CLibSQLite

/// A compiled statement.
final class Statement {
    let handle: OpaquePointer

    init(handle: OpaquePointer) {
        self.handle = handle
    }

    deinit {
        sqlite3_finalize(handle)
    }

    func bind(_ value: Value, at index: Int32) -> Int32 {
        switch value {
        case .null:
            return sqlite3_bind_null(handle, index)
        case .integer(let number):
            return sqlite3_bind_int64(handle, index, number)
        case .bytes(let bytes):
            // Empty bytes have no address, and SQLite reads a missing address as NULL.
            guard !bytes.isEmpty else { return sqlite3_bind_zeroblob(handle, index, 0) }
            return bytes.withUnsafeBytes { assay_sqlite3_bind_copy(handle, index, $0.baseAddress, UInt64($0.count)) }
        }
    }

    /// Makes it ready to run again.
    func reset() {
        // Repeats the error of the last step, which was reported then.
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
    }
}

/// The values that can be bound to a statement.
enum Value {
    case null
    case integer(Int64)
    /// A BLOB.
    case bytes([UInt8])

    /// Text as a BLOB of its UTF-8 bytes.
    static func utf8(_ text: String) -> Value { .bytes([UInt8](text.utf8)) }

    /// Milliseconds since 1970, or NULL.
    static func time(_ instant: Instant?) -> Value { instant.map { .integer($0.milliseconds) } ?? .null }
}

/// The row that a statement has arrived at.
///
/// Valid until the statement's next step.
struct Row {
    fileprivate let statement: OpaquePointer

    init(statement: OpaquePointer) {
        self.statement = statement
    }

    /// The bytes of a BLOB column; none if it is NULL.
    func bytes(_ column: Int32) -> [UInt8] {
        // In this order: asking for the bytes may convert them, and then their number changes.
        let start = sqlite3_column_blob(statement, column)
        let count = Int(sqlite3_column_bytes(statement, column))
        return [UInt8](UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count))
    }

    func text(_ column: Int32) -> String { String(decoding: bytes(column), as: UTF8.self) }

    /// The number of a column; nil if it is NULL.
    func integer(_ column: Int32) -> Int64? {
        guard sqlite3_column_type(statement, column) != SQLITE_NULL else { return nil }
        return sqlite3_column_int64(statement, column)
    }
}
