import AssayCore
import AssayKit
import NIOCore
import Testing

@testable import AssayRedis

@Suite struct FormatTests {
    @Test(
        "the slot of a key is that of Redis",
        arguments: [
            ("123456789", 12_739), ("", 0), ("foo", 12_182), ("{foo}bar", 12_182), ("x{foo}y{bar}", 12_182),
            ("assay:e:s:{foo}", 12_182), ("assay:c:other:{foo}", 12_182),
        ])
    func slots(_ key: String, _ slot: Int) {
        #expect(HashSlot.of(Array(key.utf8)) == slot)
    }

    @Test("each slot has a tag that is in it")
    func tags() {
        #expect(HashSlot.tags.enumerated().allSatisfy { HashSlot.of(Array("assay:id:{\($1)}".utf8)) == $0 })
    }

    @Test("keys of different spaces and names differ, whatever is in them")
    func keys() {
        let keys = Keys(prefix: "p")
        let names = ["", "a", "{", "}", ":", "a:b", "{a}", "a}:{b", "%7B", "\0"]
        var all: Set<[UInt8]> = []
        for space in names {
            for name in names {
                let key = StateKey(space, name)
                #expect(all.insert(keys.entry(key)).inserted)
                #expect(all.insert(keys.counter(key)).inserted)
                // One name, one slot, as long as it begins with no closing brace.
                if !name.isEmpty, !name.hasPrefix("}") {
                    #expect(HashSlot.of(keys.entry(key)) == HashSlot.of(keys.counter(StateKey("other", name))))
                }
            }
            #expect(all.insert(keys.index(space)).inserted)
        }
        #expect(all.insert(keys.identity(tag: nil)).inserted)
    }

    @Test("times and counters compare as texts as their numbers do")
    func digits() {
        let times: [Int64] = [.min, .min + 1, -1, 0, 1, 999, 1_800_000_000_000, .max - 1, .max]
        let texts = times.map { Digits.of(Instant(milliseconds: $0)) }
        for (left, right) in zip(texts, texts.dropFirst()) { #expect(left.lexicographicallyPrecedes(right)) }
        #expect(texts.allSatisfy { $0.count == 20 })
        #expect(texts.map { Digits.instant($0)?.milliseconds } == times)
        for time in [nil] + times.map({ Instant(milliseconds: $0) }) {
            let entry = StoredEntry(Digits.of(time) + [1, 2])
            #expect(entry?.expires == time)
            #expect(entry?.value == [1, 2])
        }
        for foreign in [[], Array("x".utf8), Array("1234567890123456789".utf8), Array("1234567890123456789x".utf8)] {
            #expect(StoredEntry(foreign) == nil)
        }
    }

    @Test("the server removes an entry after its end and the margin, and what lies too far never")
    func removal() {
        let expiry = NativeExpiry(margin: .seconds(10))
        func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
        #expect(text(expiry.removal(Instant(seconds: 5))) == "15000")
        #expect(text(expiry.removal(nil)) == "")
        #expect(text(expiry.removal(Instant(milliseconds: .max))) == "")
        #expect(text(expiry.removal(Instant(milliseconds: .min))) == "1")
        #expect(text(expiry.least(Instant(seconds: 7), now: Instant(seconds: 5))) == "12000")
        #expect(text(expiry.least(Instant(milliseconds: .max), now: Instant(milliseconds: .min))) == "\(1 << 52)")
    }

    private static func facts(_ info: String, _ settings: [String: String]?) throws -> ServerFacts {
        let answers = ServerFacts.names.map { name -> RedisReply in
            guard let settings else { return .error(ServerError("NOPERM this user has no permissions")) }
            return .array(settings[name].map { [.bulk(Array(name.utf8)), .bulk(Array($0.utf8))] } ?? [])
        }
        return try ServerFacts([.bulk(Array(info.utf8))] + answers, from: "s")
    }

    @Test(
        "writes are confirmed as the server's settings and the replicas demand",
        arguments: [
            ("7.0.15", "always", 0, "none", 0), ("7.0.15", "always", 2, "replicas", 0),
            ("7.0.15", "everysec", 0, "none", 1),
            ("7.2.4", "always", 0, "none", 0), ("7.2.4", "always", 1, "disks", 0), ("7.2.4", "everysec", 0, "disks", 0),
            ("8.1.0", "everysec", 2, "disks", 0), ("8.1.0", "no", 0, "none", 1), ("6.2.0", "no", 1, "replicas", 1),
        ])
    func verdicts(_ version: String, _ flush: String, _ replicas: Int, _ kind: String, _ losses: Int) throws {
        let facts = try Self.facts(
            "redis_version:\(version)\r\nrole:master\r\n",
            [
                "appendonly": "yes", "appendfsync": flush, "maxmemory-policy": "noeviction",
                "no-appendfsync-on-rewrite": "no",
            ])
        let verdict = DurabilityVerdict(facts, replicas: replicas)
        #expect("\(verdict.confirmation.kind)" == kind)
        #expect(verdict.losses.count == losses)
    }

    @Test("an old server, or one of another kind, is refused; Valkey is told by its own version")
    func versions() async throws {
        for info in ["", "redis_version:6.0.16", "redis_version:5.0", "redis_version:x"] {
            #expect(await code { _ = try Self.facts(info, [:]) } == .unsupportedServer)
        }
        let valkey = try Self.facts(
            "redis_version:7.2.4\r\nvalkey_version:8.1.8\r\nrole:slave\r\ndb0:keys=3,expires=1\r\n", nil)
        #expect(valkey.product == "Valkey")
        #expect(valkey.version == "8.1.8")
        #expect(!valkey.isMaster)
        #expect(valkey.keys == 3)
        #expect(valkey.settings == nil)
        #expect(DurabilityVerdict(valkey, replicas: 0).losses.count == 1)
    }

    @Test(
        "a confirmation counts disks and replicas",
        arguments: [
            (RedisReply.array([.integer(1), .integer(1)]), true), (.array([.integer(0), .integer(1)]), false),
            (.array([.integer(1), .integer(0)]), false), (.array([.integer(1)]), false),
            (.error(ServerError("ERR")), false),
            (.integer(1), false),
        ])
    func confirmations(_ reply: RedisReply, _ isMet: Bool) {
        #expect(Confirmation(kind: .disks, replicas: 1).isMet(by: reply) == isMet)
        #expect(Confirmation(kind: .replicas, replicas: 1).isMet(by: .integer(1)))
        #expect(!Confirmation(kind: .replicas, replicas: 2).isMet(by: .integer(1)))
    }

    @Test("redirections and slot maps are read, and those of another form are not")
    func clusterForms() throws {
        let server = ServerAddress(host: "h", port: 7)
        for (text, expected) in [
            ("MOVED 3999 1.2.3.4:6381", "moved(3999, 1.2.3.4:6381)"), ("MOVED 1 :6381", "moved(1, h:6381)"),
            ("ASK 5 ::1:70", "ask([::1]:70)"),
        ] {
            let redirection = try #require(Redirection(ServerError(text), from: server))
            #expect("\(redirection)".replacing("AssayRedis.ServerAddress", with: "") == expected)
        }
        for text in [
            "", "MOVED", "MOVED 1", "MOVED 16384 a:1", "MOVED -1 a:1", "MOVED 1 a:0", "MOVED 1 a", "ERR 1 a:1",
        ] {
            #expect(Redirection(ServerError(text), from: server) == nil)
        }
        func row(_ first: Int64, _ last: Int64, _ host: RedisReply, _ port: Int64) -> RedisReply {
            .array([.integer(first), .integer(last), .array([host, .integer(port), .bulk([])])])
        }
        let map = try #require(
            SlotMap(.array([row(0, 9, .bulk(Array("a".utf8)), 1), row(10, 16_383, .null, 2)]), from: server))
        #expect(map.owner(of: 9) == ServerAddress(host: "a", port: 1))
        #expect(map.ranges(of: ServerAddress(host: "h", port: 2)) == [10..<16_384])
        for bad in [
            RedisReply.null, .array([.integer(1)]), .array([row(5, 4, .null, 1)]), .array([row(0, 16_384, .null, 1)]),
        ] {
            #expect(SlotMap(bad, from: server) == nil)
        }
    }
}
