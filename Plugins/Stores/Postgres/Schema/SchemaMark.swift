internal import AssayCore

/// The one row that says which store a schema holds, and which releases can use it.
struct SchemaMark: Equatable {
    /// Random, and made with the tables.
    let identity: [UInt8]
    /// The version of the tables.
    let version: Int64
    /// The lowest version that a release must know to use them.
    let minimumReader: Int64

    /// The version of the tables that this release makes.
    static let currentVersion: Int64 = 1

    /// Reads the row; nil when the table, the schema or the row is missing.
    static func read(
        _ db: Connection, _ schema: String, _ place: String, until end: ContinuousClock.Instant
    ) throws -> SchemaMark? {
        let statement = Statement(
            "mark", [], "SELECT identity, version::int8, minimum_reader::int8 FROM \(schema).store")
        do {
            guard let row = try db.run(Step(statement), until: end).row() else { return nil }
            return SchemaMark(
                identity: try row.bytes(0), version: try row.integer(1), minimumReader: try row.integer(2))
        } catch let error as ServerError {
            if error.isOf(class: "42P01") || error.isOf(class: "3F000") { return nil }
            throw error.error(at: place)
        }
    }

    /// - Throws: when a later release made the tables so that this one cannot use them.
    func check(_ place: String) throws(PostgresStoreError) {
        guard minimumReader <= Self.currentVersion else {
            throw PostgresStoreError(
                .newerSchema,
                "\(place): the tables have version \(version), made by a later release; this one knows up to "
                    + "\(Self.currentVersion): use that release, or another schema with #schema=NAME")
        }
    }
}
