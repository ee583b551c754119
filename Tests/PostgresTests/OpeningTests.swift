import AssayCore
import AssayKit
import Foundation
import Testing

@testable import AssayPostgres

@Suite(isInstalled) struct OpeningTests {
    private let server: PostgresServer

    init() throws {
        server = try PostgresServer.shared.get()
    }

    @Test func manyServersThatStartAtOnceMakeOneSchema() async throws {
        let schema = server.newSchema()
        let inserted = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 {
                group.addTask { [server] in
                    let store = try await openStore(schema, "pool=1", on: server)
                    let inserted = try await store.insert(StateKey("s", "a"), value: [], expires: nil)
                    await store.close()
                    return inserted
                }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(inserted == 1)
        #expect(try server.integer("SELECT count(*) FROM \(schema).store") == 1)
    }

    @Test func theLocationsOfBothSpellingsOpenTheSameStore() async throws {
        let schema = server.newSchema()
        for location in [
            "//postgres@127.0.0.1:\(server.port)/postgres#schema=\(schema)",
            "postgres://postgres@127.0.0.1:\(server.port)/postgres#schema=\(schema)",
            "host=127.0.0.1 port=\(server.port) user=postgres dbname=postgres#schema=\(schema)&pool=1",
        ] {
            let store = try await PostgresStore.open(location, host: StorageHost())
            #expect(try await store.advance(StateKey("s", "c"), to: 1) == (location.hasPrefix("//")))
            await store.close()
        }
    }

    @Test func aServerThatDoesNotAnswerIsNamed() async throws {
        let message = await openingMessage("//u@127.0.0.1:\(try PostgresServer.freePort())/d")
        #expect(message?.contains("no connection") == true)
        let unknown = await openingMessage("//u@no-such-host.invalid/d")
        #expect(unknown?.contains("no host has this name") == true)
    }

    @Test func aWrongPasswordIsRefusedAndNotRepeated() async throws {
        let schema = server.newSchema()
        let role = "guarded"
        try server.sql(
            "CREATE ROLE \(role) LOGIN PASSWORD 'the right one'", "CREATE SCHEMA \(schema) AUTHORIZATION \(role)")
        let place = "127.0.0.1:\(server.port)/postgres#schema=\(schema)"
        let wrong = await openingMessage("//\(role):s3cret@\(place)")
        #expect(wrong?.contains("wrong user or password") == true)
        #expect(wrong?.contains("s3cret") == false)
        let none = await openingMessage("//\(role)@\(place)&password=env:ASSAY_NO_SUCH_VARIABLE")
        #expect(none?.contains("env:ASSAY_NO_SUCH_VARIABLE has no value") == true)
        #expect(await openingMessage("//\(role)@\(place)")?.contains("a password is needed") == true)
        let file = "\(server.folder)/password"
        try Data("the right one\n".utf8).write(to: URL(fileURLWithPath: file))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
        #expect(await openingMessage("//\(role)@\(place)&password=file:\(file)") == nil)
        #expect(await openingMessage("//nobody_here@\(place)")?.contains("create the role") == true)
        #expect(
            await openingMessage("//postgres@127.0.0.1:\(server.port)/missing")?.contains("create the database") == true
        )
    }

    @Test func tablesOfALaterReleaseAreUsedUnlessTheyExcludeThisOne() async throws {
        let schema = server.newSchema()
        await (try await openStore(schema, "pool=1")).close()
        try server.sql("UPDATE \(schema).store SET version = 9")
        await (try await openStore(schema, "pool=1")).close()
        try server.sql("UPDATE \(schema).store SET minimum_reader = 2")
        let message = await openingMessage(server.url(options: "schema=\(schema)"))
        #expect(message?.contains("made by a later release; this one knows up to 1") == true)
    }

    @Test func aRoleWithoutRightsIsToldWhatItNeeds() async throws {
        let (schema, role) = (server.newSchema(), "servant_\(server.newSchema())")
        try server.sql("CREATE ROLE \(role) LOGIN")
        let url = server.url(user: role, options: "schema=\(schema)&pool=1")
        #expect(await openingMessage(url)?.contains("run `assay state migrate`") == true)
        let done = try await PostgresStore.migrate(server.url(options: "schema=\(schema)"))
        #expect(done.contains("the tables were made, version 1"))
        #expect(try await PostgresStore.migrate(server.url(options: "schema=\(schema)")).contains("nothing to do"))
        #expect(await openingMessage(url)?.contains("the role lacks a right") == true)
        try server.sql(
            "GRANT USAGE ON SCHEMA \(schema) TO \(role)", "GRANT SELECT ON \(schema).store TO \(role)",
            "GRANT SELECT, INSERT, UPDATE ON \(schema).entry, \(schema).counter, \(schema).purged TO \(role)")
        #expect(await openingMessage(url)?.contains("the tables entry, counter, purged") == true)
        try server.sql("GRANT DELETE ON \(schema).entry, \(schema).counter, \(schema).purged TO \(role)")
        let store = try await PostgresStore.open(url, host: StorageHost())
        #expect(try await store.insert(StateKey("s", "a"), value: [], expires: Instant(seconds: 1)))
        #expect(try await store.advance(StateKey("s", "a"), to: 1))
        let round = try #require(try await store.markExpired(after: nil, settling: .zero))
        #expect(try await store.remove(round) == 1)
        await store.close()
    }

    @Test func aServerThatAcceptsNoWritesIsRefused() async throws {
        let (schema, role) = (server.newSchema(), "reader_\(server.newSchema())")
        await (try await openStore(schema, "pool=1")).close()
        try server.sql(
            "CREATE ROLE \(role) SUPERUSER LOGIN", "ALTER ROLE \(role) SET default_transaction_read_only = on")
        let message = await openingMessage(server.url(user: role, options: "schema=\(schema)"))
        #expect(message?.contains("the server accepts no writes") == true)
    }

    @Test(arguments: ["off", "local", "on", "remote_apply"])
    func aRoleWhoseWritesWouldNotBeDurableIsRaisedToWhatIs(level: String) async throws {
        let (schema, role) = (server.newSchema(), "hasty_\(server.newSchema())")
        try server.sql("CREATE ROLE \(role) SUPERUSER LOGIN", "ALTER ROLE \(role) SET synchronous_commit = \(level)")
        func found(_ options: String) throws -> String {
            let location = try PostgresLocation(server.url(user: role, options: "schema=\(schema)&\(options)"))
            let settings = try ConnectionSettings(location)
            return try ServerFacts.read(Connection(settings, timeout: 5), location, settings.place).synchronousCommit
        }
        #expect(try found("pool=1") == (level == "remote_apply" ? level : "on"))
        #expect(try found("durability=relaxed") == level)
    }

    @Test func tablesOfAnotherProgramAreRefused() async throws {
        let schema = server.newSchema()
        try server.sql("CREATE SCHEMA \(schema)", "CREATE TABLE \(schema).entry (a int)")
        let message = await openingMessage(server.url(options: "schema=\(schema)"))
        #expect(message?.contains("does not have the tables of this store") == true)
    }

    @Test func saysWhatADatabaseIsAndChangesNothing() async throws {
        let schema = server.newSchema()
        let url = server.url(options: "schema=\(schema)")
        await #expect(throws: StateStoreOpeningError.self) { try await PostgresStore.examine(url) }
        #expect(try server.integer("SELECT count(*) FROM pg_namespace WHERE nspname = '\(schema)'") == 0)
        await (try await openStore(schema, "pool=1")).close()
        let findings = try await PostgresStore.examine(url)
        #expect(findings.problems == [])
        let text = findings.contents.joined(separator: "\n")
        for words in ["PostgreSQL 1", "tables of version 1", "rows in entry", "fsync=on", "synchronous"] {
            #expect(text.contains(words), "\(text)")
        }
        let error = await #expect(throws: StateStoreOpeningError.self) {
            try await PostgresStore.copy(url, to: "/nowhere", adding: [:])
        }
        #expect(error?.message.contains("pg_dump") == true)
    }
}
