import AssayCore
import Testing

@testable import AssayPostgres

@Suite struct LocationTests {
    @Test(arguments: [
        ("//u@h/d", "postgres://u@h/d"), ("postgresql://u@h/d", "postgresql://u@h/d"),
        ("host=h dbname=d", "host=h dbname=d"), ("", ""), ("//u:p%23@h/d#pool=2", "postgres://u:p%23@h/d"),
        ("//a,b/d?target_session_attrs=any#", nil),
        ("//h/d?sslmode=verify-full#pool=1", "postgres://h/d?sslmode=verify-full"),
    ])
    func givesLibpqItsPartAsItIs(text: String, target: String?) {
        #expect((try? PostgresLocation(text))?.target == target)
    }

    @Test func takesItsOwnOptions() throws {
        let location = try PostgresLocation(
            "//h/d#pool=8&timeout=500ms&schema=my_1&durability=relaxed&password=file:/run/secrets/pg")
        #expect(location.pool == 8)
        #expect(location.timeout == .milliseconds(500))
        #expect(location.schema == "my_1")
        #expect(location.durability == .relaxed)
        #expect(location.password == SecretReference("file:/run/secrets/pg"))
        let standard = try PostgresLocation("//h/d")
        #expect(standard.pool == 4)
        #expect(standard.timeout == .seconds(2))
        #expect(standard.schema == "assay")
        #expect(standard.durability == .strict)
    }

    @Test(arguments: [
        "pool=0", "pool=65", "pool=x", "pool", "timeout=2", "timeout=99ms", "timeout=11s", "timeout=-1s", "schema=",
        "schema=A", "schema=a-b", "schema=1a", "schema=a;b", "schema=pg_a", "durability=off", "password=hunter2",
        "unknown=1", "pool=1&&pool=2", "Pool=1", "schema=\(String(repeating: "a", count: 64))",
    ])
    func refusesOtherOptionsWithoutRepeatingThem(options: String) {
        let error = #expect(throws: PostgresStoreError.self) { try PostgresLocation("//u:s3cret@h/d#\(options)") }
        #expect(error?.code == .invalidLocation)
        #expect(error?.message.contains("hunter2") == false)
        #expect(error?.message.contains("s3cret") == false)
    }

    @Test(arguments: [
        "//u:s3cret%zz@h/d", "password=s3cret host", "//u:s3cret@h/d?nothing=1", "//u:s3cret@[::1/d", "host='s3cret",
    ])
    func saysNothingOfAPasswordWhenLibpqRefusesTheLocation(text: String) {
        let error = #expect(throws: PostgresStoreError.self) { try ConnectionSettings(PostgresLocation(text)) }
        #expect(error?.code == .invalidLocation)
        #expect(error?.message.contains("s3cret") == false)
    }

    @Test(arguments: [
        ("//u:s3cret@h/d?sslmod=require", 1), ("//u:s3cret@h/d?sslmode=require&hunter2=1#pool=2", 2),
        ("//u:s3cret@h/d?ssl=true&pool=8", 2), ("postgresql://h/d?SSLMODE=require", 1),
    ])
    func saysWhichParameterOfTheURLIsUnknown(text: String, place: Int) {
        let error = #expect(throws: PostgresStoreError.self) { try ConnectionSettings(PostgresLocation(text)) }
        #expect(
            error?.message.starts(with: "postgres: parameter \(place) after the ?") == true, "\(error?.message ?? "")")
        #expect(error?.message.contains("s3cret") == false)
        #expect(error?.message.contains("hunter2") == false)
    }

    @Test(arguments: [
        "//u:s3@cret@127.0.0.1:5432/d", "//u:s3/cret@127.0.0.1/d", "//u:5/s3cret@127.0.0.1/d", "//u:x@h,s3@cret/d",
        "//u:x@@s3cret@h/d",
    ])
    func showsNoPartOfAPasswordThatIsNotEncoded(text: String) {
        let error = #expect(throws: PostgresStoreError.self) { try ConnectionSettings(PostgresLocation(text)) }
        #expect(error?.message.contains("percent-encoded") == true)
        #expect(error?.message.contains("s3") == false)
        #expect(error?.message.contains("cret") == false)
    }

    @Test(arguments: [
        ("//u:s3cret@h/d", true), ("password=x host=h", true), ("//u@h/d#password=env:X", false), ("", false),
    ])
    func knowsWhetherTheLocationHasAPassword(text: String, isShown: Bool) throws {
        #expect(try ConnectionSettings(PostgresLocation(text)).showsPassword == isShown)
    }

    @Test(arguments: [
        ("//u:s3cret@h:5433/d#schema=x", "u@h:5433/d, schema x"), ("//h1,h2/d", "h1,h2/d, schema assay"),
        ("host=/run/pg dbname=d password=s3cret", "/run/pg/d, schema assay"), ("", "local socket/, schema assay"),
    ])
    func namesTheDatabaseWithoutThePassword(text: String, place: String) throws {
        #expect(try ConnectionSettings(PostgresLocation(text)).place == place)
    }

    @Test(arguments: [
        ("//h/d", true), ("//h/d?sslmode=require", true), ("//h/d?sslmode=verify-ca", true),
        ("//h/d?sslmode=verify-full", false), ("//localhost/d", false), ("//127.0.0.1,[::1]/d", false), ("", false),
        ("//localhost,h/d", true), ("host=/run/postgresql", false), ("//%2Frun%2Fpostgresql/d", false),
    ])
    func knowsWhichConnectionsAreNotVerified(text: String, isUnverified: Bool) throws {
        #expect(try ConnectionSettings(PostgresLocation(text)).isUnverified == isUnverified)
    }

    @Test func removesThePasswordFromWhatLibpqSays() throws {
        let settings = try ConnectionSettings(PostgresLocation("//u:s3cret@h/d"))
        #expect(settings.redacted("a s3cret\n  b s3crets3cret\n") == "a …; b ……")
    }
}
