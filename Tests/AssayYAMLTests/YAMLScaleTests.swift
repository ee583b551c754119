import AssayCore
import AssayYAML
import Testing

struct YAMLScaleTests {
    struct Root: Decodable {
        let projects: [Project]
    }

    struct Project: Decodable {
        let id: String
        let apps: [App]
    }

    struct App: Decodable {
        let id: String
        let name: String
        let token_ttl: Duration
        let enforce: Bool
        let rank: Int
        let providers: [String: Provider]
        let audiences: [String]
    }

    struct Provider: Decodable {
        let environment: String
        let bundle_id: String
        let max_age: Duration?
        let since: Instant?
    }

    private static func app(_ number: Int) -> String {
        """
              - id: "1:123456:ios:\(number)"
                name: Example \(number)
                token_ttl: \(number % 24)h
                enforce: \(number % 2 == 0)
                rank: \(number)
                audiences:
                  - projects/123456
                  - projects/example-\(number)
                providers:
                  app_attest:
                    environment: production
                    bundle_id: com.example.app\(number)
                    max_age: 7d
                  debug:
                    environment: 'development'
                    bundle_id: "com.example.app\(number)"
                    since: 2026-01-01T00:00:00Z

        """
    }

    private static func policy(apps: Int) -> String {
        "projects:\n  - id: 123456\n    apps:\n" + (0..<apps).map(app).joined()
    }

    @Test func `Ten thousand apps are decoded, each as it was written`() throws {
        let root = try decode(Root.self, Self.policy(apps: 10_000))
        let apps = try #require(root.projects.first).apps
        #expect(apps.count == 10_000)
        for (number, app) in apps.enumerated() where number % 37 == 0 {
            #expect(app.id == "1:123456:ios:\(number)")
            #expect(app.rank == number)
            #expect(app.token_ttl == .seconds(3600 * (number % 24)))
            #expect(app.enforce == (number % 2 == 0))
            #expect(app.audiences.last == "projects/example-\(number)")
            #expect(app.providers["app_attest"]?.max_age == .seconds(604_800))
            #expect(app.providers["debug"]?.bundle_id == "com.example.app\(number)")
        }
    }

    @Test func `A slip in the last of ten thousand apps is found there`() throws {
        let text = Self.policy(apps: 10_000) + "    nmae: x\n"
        let found = problems { () throws(Diagnostics) in _ = try decode(Root.self, text) }
        #expect(found == ["170004:5 projects[0].nmae: unknown key `nmae` (known here: `apps`, `id`)"])
    }

    @Test func `A changed document is read or refused at a place, never more`() throws {
        let good = Array((Self.policy(apps: 2) + "# &a *b !c \"\\n\" [x, {y: z}] | > %\n").utf8)
        let interesting = Array("\t\n\r :-?[]{},#&*!|>'\"%@`\\~\u{0}".utf8) + [0x80, 0xC2, 0xE2, 0xFF]
        var state: UInt64 = 20_261_121
        func random(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(bound))
        }
        var outcomes = (read: 0, refused: 0)
        for _ in 0..<2000 {
            var bytes = good
            for _ in 0...random(4) {
                let place = random(bytes.count)
                switch random(4) {
                case 0: bytes[place] = interesting[random(interesting.count)]
                case 1: bytes.insert(interesting[random(interesting.count)], at: place)
                case 2: bytes.removeSubrange(place..<min(bytes.count, place + 1 + random(20)))
                default:
                    bytes.insert(
                        contentsOf: bytes[place..<min(bytes.count, place + random(40))], at: random(bytes.count))
                }
            }
            do throws(Diagnostics) {
                _ = try YAMLDecoder().decode(Root.self, from: YAMLDocument.parse(bytes, file: "policy.yaml"))
                outcomes.read += 1
            } catch {
                outcomes.refused += 1
                for diagnostic in error.all {
                    #expect(diagnostic.location != nil && !diagnostic.message.isEmpty)
                    #expect(!diagnostic.description.isEmpty)
                }
            }
        }
        #expect(outcomes.read > 50 && outcomes.refused > 500, "\(outcomes)")
    }
}
