import AssayCore
import AssayKit
import Foundation
import Testing

@testable import AssayPostgres

/// The name that certificates are for, and whether programs to make them are here.
private let name = "db.example.com"
private let hasOpenSSL: ConditionTrait = .enabled(
    if: FileManager.default.isExecutableFile(atPath: "/usr/bin/openssl"), "openssl is not installed")

/// A server with TLS, and the authorities of its certificates.
private struct TLSServer {
    let server: PostgresServer

    init() throws {
        server = try PostgresServer()
        try authority("ca")
        try authority("other")
        try certificate("server", days: 2)
        try certificate("expired", days: -1)
        try present("server")
    }

    func file(_ name: String) -> String { "\(server.folder)/\(name)" }

    private func authority(_ authority: String) throws {
        try PostgresServer.run(
            """
            cd '\(server.folder)' && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes \
            -keyout \(authority).key -out \(authority).pem -days 2 -subj '/CN=\(authority)' 2> /dev/null
            """)
    }

    private func certificate(_ file: String, days: Int) throws {
        try PostgresServer.run(
            """
            cd '\(server.folder)' && openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout \(file).key \
            -out \(file).csr -subj '/CN=\(name)' 2> /dev/null && echo 'subjectAltName=DNS:\(name)' > names && \
            openssl x509 -req -in \(file).csr -CA ca.pem -CAkey ca.key -CAcreateserial -days \(days) -extfile names \
            -out \(file).pem 2> /dev/null && chmod 600 \(file).key
            """)
        try server.give(self.file("\(file).key"))
    }

    /// Has the server present a certificate to connections that come now.
    func present(_ certificate: String, tls: String = "on") throws {
        try server.sql(
            "ALTER SYSTEM SET ssl_cert_file = '\(file("\(certificate).pem"))'",
            "ALTER SYSTEM SET ssl_key_file = '\(file("\(certificate).key"))'", "ALTER SYSTEM SET ssl = \(tls)",
            "SELECT pg_reload_conf()")
        let end = ContinuousClock.now + .seconds(10)
        let look = """
            SELECT count(*) FROM pg_settings WHERE name = 'ssl_cert_file' AND setting LIKE '%\(certificate).pem'
            """
        let state = "SELECT count(*) FROM pg_settings WHERE name = 'ssl' AND setting = '\(tls)'"
        while try server.integer(look) != 1 || server.integer(state) != 1 {
            guard ContinuousClock.now < end else { throw PostgresServer.Failure("the setting did not change") }
            usleep(20_000)
        }
    }

    func location(host: String = name, ca: String = "ca", user: String = "postgres", _ more: String = "") -> String {
        "host=\(host) hostaddr=127.0.0.1 port=\(server.port) user=\(user) dbname=postgres sslmode=verify-full "
            + "sslrootcert=\(file("\(ca).pem")) \(more)#pool=1"
    }
}

/// That the server is the one that is meant.
@Suite(isInstalled, hasOpenSSL) struct TLSTests {
    private static let terminate =
        "SELECT pg_terminate_backend(pid) FROM pg_stat_ssl WHERE ssl AND pid <> pg_backend_pid()"

    @Test func aServerWhoseCertificateIsVerifiedIsUsedAndEveryOtherOneIsRefused() async throws {
        let tls = try TLSServer()
        defer { tls.server.kill() }
        let store = try await PostgresStore.open(tls.location(), host: StorageHost())
        #expect(try await store.insert(StateKey("s", "a"), value: [], expires: nil))
        let encrypted = """
            SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
            WHERE ssl AND query = 'SELECT $1' AND pid <> pg_backend_pid()
            """
        #expect(try tls.server.integer(encrypted) == 1)

        let authority = "is not signed by the authority in sslrootcert, or has expired; `openssl s_client"
        let wrong = await openingMessage(tls.location(ca: "other"))
        #expect(wrong?.contains(authority) == true, "\(wrong ?? "opened")")
        let missing = await openingMessage(tls.location(ca: "absent"))
        #expect(missing?.contains("name the authority's certificate with sslrootcert=PATH") == true)
        let named = await openingMessage(tls.location(host: "other.example.com"))
        #expect(named?.contains("is for another name; name the host as the certificate does") == true)
        #expect(named?.contains(#""db.example.com" does not match host name "other.example.com""#) == true)

        // What was accepted once is looked at again with each connection.
        try tls.present("expired")
        let expired = await openingMessage(tls.location())
        #expect(expired?.contains(authority) == true, "\(expired ?? "opened")")
        try tls.server.sql(Self.terminate)
        #expect(
            try await becomes { await code { _ = try await store.get(StateKey("s", "a")) } == .certificateNotVerified })
        try tls.present("server")
        #expect(try await eventually { try await store.get(StateKey("s", "a")) } == [])

        // One that pretends to have no TLS gets nothing.
        try tls.present("server", tls: "off")
        try tls.server.sql(Self.terminate)
        let plain = await openingMessage(tls.location())
        #expect(plain?.contains("the server has no TLS, and sslmode demands it; set ssl=on") == true)
        #expect(
            try await becomes { await code { _ = try await store.get(StateKey("s", "a")) } == .certificateNotVerified })
        try tls.present("server")
        #expect(try await eventually { try await store.get(StateKey("s", "a")) } == [])
        await store.close()
    }

    @Test func aClientCertificateIsPresentedWhereTheServerDemandsOne() async throws {
        let tls = try TLSServer()
        defer { tls.server.kill() }
        let rules = """
            hostssl all certain 127.0.0.1/32 cert map=servers
            host all all 127.0.0.1/32 trust
            """
        try Data(rules.utf8).write(to: URL(fileURLWithPath: tls.file("data/pg_hba.conf")))
        try Data("servers \(name) certain\n".utf8).write(to: URL(fileURLWithPath: tls.file("data/pg_ident.conf")))
        try tls.server.give(tls.file("data/pg_hba.conf"))
        try tls.server.sql(
            "CREATE ROLE certain SUPERUSER LOGIN", "ALTER SYSTEM SET ssl_ca_file = '\(tls.file("ca.pem"))'",
            "SELECT pg_reload_conf()")
        // libpq takes a private key only from the user that it belongs to.
        try PostgresServer.run("cp '\(tls.file("server.key"))' '\(tls.file("client.key"))'")
        let certificate = "sslcert=\(tls.file("server.pem")) sslkey=\(tls.file("client.key"))"
        let opened = try await eventually {
            try await PostgresStore.open(tls.location(user: "certain", certificate), host: StorageHost())
        }
        #expect(try await opened.insert(StateKey("s", "b"), value: [], expires: nil))
        await opened.close()
        let none = await openingMessage(tls.location(user: "certain"))
        #expect(none?.contains("name a client certificate with sslcert and sslkey") == true, "\(none ?? "opened")")
    }
}
