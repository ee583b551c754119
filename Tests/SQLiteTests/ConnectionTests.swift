import AssayCore
import Foundation
import Testing

@testable import AssaySQLite

@Suite("Connections to a database")
struct ConnectionTests {
    private struct Stop: Error {}

    private func withConnection(
        _ access: Connection.Access = .readWrite, _ body: (Connection, String) throws -> Void
    ) throws {
        let folder = try TemporaryFolder()
        let path = folder.file("plain.sqlite")
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        let connection = try Connection(path: path, .readWrite, busyTimeout: .zero)
        try connection.execute("CREATE TABLE t (k INTEGER PRIMARY KEY, v BLOB)")
        if access == .readWrite {
            try body(connection, path)
        } else {
            try body(Connection(path: path, access, busyTimeout: .zero), path)
        }
    }

    @Test("Values come back as they were bound: nothing is not an empty value, and numbers keep their sign")
    func values() throws {
        try withConnection { (connection, _) throws in
            let values: [Value] = [
                .null, .bytes([]), .bytes([0, 255]), .integer(.min), .time(nil), .utf8("a\0\u{E9}"),
            ]
            for value in values { #expect(try connection.change("INSERT INTO t (v) VALUES (?)", [value]) == 1) }
            let nulls = try connection.rows("SELECT v IS NULL FROM t ORDER BY k") { $0.integer(0) == 1 }
            #expect(nulls == [true, false, false, false, true, false])
            let bytes = try connection.rows("SELECT v FROM t ORDER BY k") { $0.bytes(0) }
            #expect(bytes[1] == [] && bytes[2] == [0, 255] && bytes[5] == Array("a\0\u{E9}".utf8))
            #expect(try connection.integer("SELECT v FROM t WHERE k = 4") == .min)
            #expect(try connection.integer("SELECT v FROM t WHERE k = 1") == nil)
            #expect(try connection.integer("SELECT v FROM t WHERE k = 99") == nil)
        }
    }

    private static func insert(_ connection: Connection, _ kind: Connection.TransactionKind, stops: Bool) throws {
        func body() throws {
            _ = try connection.change("INSERT INTO t (v) VALUES (?)", [.integer(1)])
            if stops { throw Stop() }
        }
        try connection.transaction(kind, body)
    }

    private static func checkRollback(_ connection: Connection) throws {
        for kind in [Connection.TransactionKind.immediate, .deferred] {
            #expect(throws: Stop.self) { try insert(connection, kind, stops: true) }
        }
        #expect(try connection.integer("SELECT count(*) FROM t") == 0)
        try insert(connection, .immediate, stops: false)
        #expect(try connection.integer("SELECT count(*) FROM t") == 1)
    }

    @Test("A transaction whose body throws leaves nothing behind, and the next one begins anew")
    func rollback() throws {
        try withConnection { (connection, _) throws in try Self.checkRollback(connection) }
    }

    @Test("A connection for reading writes nothing, whatever it is told")
    func readOnly() throws {
        try withConnection(.queryOnly) { (connection, _) throws in
            #expect(throws: SQLiteError.self) { try connection.execute("DELETE FROM t") }
            #expect(throws: SQLiteError.self) { try connection.change("INSERT INTO t (v) VALUES (1)", []) }
            #expect(try connection.integer("SELECT count(*) FROM t") == 0)
        }
    }

    @Test("A writer beside another one is told that the file is locked, and works when the other is done")
    func locked() throws {
        try withConnection { (connection, path) throws in
            let other = try Connection(path: path, .readWrite, busyTimeout: .zero)
            try connection.transaction(.immediate) {
                let error = #expect(throws: SQLiteError.self) { try other.transaction(.immediate) {} }
                #expect(error.map { SQLiteStoreError($0, path: path).code } == .busy)
            }
            try other.transaction(.immediate) {}
        }
    }

    @Test("A statement that SQLite does not take, and a file that is not there, are errors with SQLite's words")
    func errors() throws {
        try withConnection { (connection, path) throws in
            let syntax = #expect(throws: SQLiteError.self) { try connection.integer("SELEC 1") }
            #expect(syntax?.message?.contains("syntax error") == true)
            #expect(throws: SQLiteError.self) { try Connection(path: path + "-none", .readWrite, busyTimeout: .zero) }
        }
    }

    @Test("A queue that is closed opens no connection any more")
    func closed() async throws {
        let queue = ConnectionQueue(label: "test") { throw Stop() }
        #expect(throws: Stop.self) { try queue.perform { _ in } }
        await queue.close()
        let error = #expect(throws: SQLiteStoreError.self) { try queue.perform { _ in } }
        #expect(error?.code == .closed)
    }
}

@Suite("What SQLite reports, in the words of the store")
struct SQLiteStoreErrorTests {
    private struct Strange: Error, CustomStringConvertible {
        let description = "strange"
    }

    /// SQLite's result codes (sqlite.org, Result and Error Codes), extended ones among them.
    @Test(
        "Each code has its meaning, also with the details of an extended one",
        arguments: [
            (13, .diskFull), (8, .readOnly), (3, .readOnly), (776, .readOnly), (26, .notADatabase), (11, .corrupt),
            (267, .corrupt), (5, .busy), (6, .busy), (517, .busy), (14, .cannotOpen), (270, .cannotOpen), (1, .failed),
            (10, .failed), (266, .failed), (19, .failed),
        ] as [(Int32, SQLiteStoreError.Code)])
    func codes(_ number: Int32, _ code: SQLiteStoreError.Code) {
        let error = SQLiteStoreError(SQLiteError(code: number, message: "words"), path: "/state.sqlite")
        #expect(error.code == code)
        #expect(error.sqliteCode == number)
        #expect(error.message.starts(withExactly: "/state.sqlite: ") && error.message.ends(withExactly: ": words"))
        #expect(error.description.starts(withExactly: "\(code.rawValue): "))
    }

    @Test("The store's own errors stay as they are, and others are shown with the path")
    func others() {
        let own = SQLiteStoreError(.tooLarge, "x")
        #expect(SQLiteStoreError(own, path: "/a") == own)
        #expect(SQLiteStoreError(Strange(), path: "/a") == SQLiteStoreError(.failed, "/a: strange"))
    }
}
