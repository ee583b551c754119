import AssayCore
import AssayEngine
import AssayKit
import Testing

@testable import AssayServer

@Suite("The default place of the keys")
struct KeyFolderTests {
    private static let stores = [
        store("sqlite", .machine), store("postgres", .servers, aliases: ["postgresql"]), store("redis", .servers),
        store("rediss", .servers),
    ]

    private static func store(
        _ scheme: String, _ sharing: StorageSharing, aliases: [String] = []
    ) -> StorageDescriptor {
        StorageDescriptor(
            scheme: scheme, version: "1", summary: "A store.", location: "PLACE", stability: .stable,
            posture: SecurityPosture(proves: "nothing", trusts: []), survival: .powerLoss, sharing: sharing,
            aliases: aliases)
    }

    @Test(
        "Keys are next to a database file, and never in a place that a server's URL spells",
        arguments: [
            ("sqlite:/a/b.sqlite", "/a/b.sqlite-keys"), ("sqlite:b", "b-keys"), ("redis://h:1/0#password=env:P", nil),
            ("memory", nil), ("postgres:host=h password=s3cret", nil), ("postgresql:host=h password=s3cret", nil),
            ("nothing:s3cret", nil),
        ])
    func places(_ state: String, _ expected: String?) throws {
        let place = try KeyFolder.standard(forState: state, among: Self.stores) { $0 == "HOME" ? "/home/a" : nil }
        if let expected {
            #expect(place == expected)
        } else {
            #expect(place == "/home/a/.local/state/assay/keys")
        }
    }

    @Test("Without HOME the place has to be named, and the error says how")
    func withoutHome() throws {
        let error = #expect(throws: KeyError.self) {
            try KeyFolder.standard(forState: "memory", among: Self.stores) { _ in nil }
        }
        #expect(error?.message.contains("--keys") == true)
        #expect(
            try KeyFolder.standard(forState: "memory", among: Self.stores) { $0 == "XDG_STATE_HOME" ? "/x" : nil }
                == "/x/assay/keys")
        #expect(try KeyFolder.standard(forState: "sqlite:b", among: Self.stores) { _ in nil } == "b-keys")
    }

    @Test(
        "Messages name a state without its location, unless that is a path",
        arguments: [
            ("sqlite:/a/b.sqlite", "sqlite:/a/b.sqlite"), ("postgres://u:s3cret@h/d", "the state in postgres"),
            ("postgresql://u:s3cret@h/d", "the state in postgres"),
            ("postgresql:password=s3cret", "the state in postgres"), ("rediss://:s3cret@h", "the state in rediss"),
            ("nothing://u:s3cret@h", "the state in nothing"),
        ])
    func names(_ state: String, _ expected: String) {
        #expect(StateName(state, among: Self.stores).shown == expected)
    }
}
