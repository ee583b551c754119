internal import AssayCore
internal import CLibPQ

/// What a statement returned.
///
/// A server, or what stands between, may return anything: whoever reads a table says how many rows it must have and of which type
/// a column is, and gets an error for any other.
struct Table: Sendable {
    let rows: [Row]
    /// How many rows it changed.
    let changed: Int

    init(rows: [Row] = [], changed: Int = 0) {
        self.rows = rows
        self.changed = changed
    }

    /// The only row.
    func single() throws(PostgresStoreError) -> Row {
        guard let row = try row() else { throw Row.unexpected("no row") }
        return row
    }

    /// The only row; nil when there is none.
    func row() throws(PostgresStoreError) -> Row? {
        guard rows.count <= 1 else { throw Row.unexpected("\(rows.count) rows") }
        return rows.first
    }
}

/// A row of a table, whose columns are read by their types.
struct Row: Sendable {
    /// Values in binary form; nil for NULL.
    private let values: [[UInt8]?]
    /// The numbers of the columns' types.
    private let types: [UInt32]

    init(_ values: [[UInt8]?], types: [UInt32]) {
        self.values = values
        self.types = types
    }

    static func unexpected(_ found: String) -> PostgresStoreError {
        PostgresStoreError(.failed, "postgres: the server returned something else than was asked for: \(found)")
    }

    /// A column of type `bytea`.
    func bytes(_ column: Int) throws(PostgresStoreError) -> [UInt8] { try value(column, Statement.bytea) }

    /// A column of type `bytea` that holds UTF-8.
    func utf8(_ column: Int) throws(PostgresStoreError) -> String {
        String(decoding: try bytes(column), as: UTF8.self)
    }

    /// A column of type `text`.
    func text(_ column: Int) throws(PostgresStoreError) -> String {
        String(decoding: try value(column, Statement.text), as: UTF8.self)
    }

    /// A column of type `bool`.
    func bool(_ column: Int) throws(PostgresStoreError) -> Bool {
        let bytes = try value(column, Statement.bool)
        guard bytes == [0] || bytes == [1] else { throw Self.unexpected("a truth value of \(bytes.count) bytes") }
        return bytes == [1]
    }

    /// A column of type `int8` or `int4`.
    func integer(_ column: Int) throws(PostgresStoreError) -> Int64 {
        guard let number = try optionalInteger(column) else { throw Self.unexpected("NULL in column \(column)") }
        return number
    }

    /// A column of type `int8` or `int4`; nil for NULL.
    func optionalInteger(_ column: Int) throws(PostgresStoreError) -> Int64? {
        guard let (type, bytes) = try found(column, [Statement.int8, Statement.int4]) else { return nil }
        guard bytes.count == (type == Statement.int8 ? 8 : 4) else {
            throw Self.unexpected("a number of \(bytes.count) bytes")
        }
        let number = bytes.reduce(0) { $0 << 8 | UInt64($1) }
        return type == Statement.int8
            ? Int64(truncatingIfNeeded: number) : Int64(Int32(truncatingIfNeeded: number))
    }

    private func value(_ column: Int, _ type: UInt32) throws(PostgresStoreError) -> [UInt8] {
        guard let (_, bytes) = try found(column, [type]) else { throw Self.unexpected("NULL in column \(column)") }
        return bytes
    }

    /// The type and the bytes of a column that must have one of some types; nil for NULL.
    private func found(
        _ column: Int, _ expected: [UInt32]
    ) throws(PostgresStoreError) -> (type: UInt32, bytes: [UInt8])? {
        guard values.indices.contains(column), types.indices.contains(column) else {
            throw Self.unexpected("\(values.count) columns")
        }
        let type = types[column]
        guard expected.contains(type) else { throw Self.unexpected("type \(type) in column \(column)") }
        return values[column].map { (type, $0) }
    }
}

extension Table {
    /// Copies a result of libpq.
    ///
    /// - Throws: when the server says that it has sent another number of rows: then some were lost on the way, or came twice.
    init(_ result: OpaquePointer) throws(ConnectionLost) {
        let columns = max(PQnfields(result), 0)
        let types = (0..<columns).map { PQftype(result, $0) }
        rows = (0..<max(PQntuples(result), 0)).map { row in
            let values = (0..<columns).map { column -> [UInt8]? in
                guard PQgetisnull(result, row, column) == 0, let start = PQgetvalue(result, row, column) else {
                    return nil
                }
                return [UInt8](UnsafeRawBufferPointer(start: start, count: Int(PQgetlength(result, row, column))))
            }
            return Row(values, types: types)
        }
        let told = Int(String(cString: PQcmdTuples(result)))
        changed = told ?? 0
        guard columns == 0 || told.map({ $0 == rows.count }) ?? true else {
            throw PipelineReader.unexpected
        }
    }
}
