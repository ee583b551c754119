import AssayCore
import AssayYAML
import Testing

struct YAMLMappingTests {
    struct Plugin: Decodable {
        let environment: String
        let limits: Limits?

        struct Limits: Decodable { let rate: Int }
    }

    @Test func `Keys are read one by one, and absent ones are nil`() {
        var read = 0
        let found = problems(reading: "id: 123\nttl: 90s\nnone: ~\nlist: [a, b]") { mapping in
            #expect(mapping.required("id", as: String.self) == "123")
            #expect(mapping.optional("ttl", as: Duration.self) == .seconds(90))
            #expect(mapping.optional("none", as: Int.self) == nil)
            #expect(mapping.optional("absent", as: Int.self) == nil)
            #expect(mapping.required("list", as: [String].self) == ["a", "b"])
            #expect(mapping.optional("list")?.elements()?.last?.path.description == "list[1]")
            mapping.finish()
            read += 1
        }
        #expect(found.isEmpty)
        #expect(read == 1)
    }

    @Test func `A key without a value is reported once, however often it is asked for`() {
        let found = problems(reading: "none:\nquoted: ''\nlist:\n  - a") { mapping in
            #expect(mapping.optional("none", as: Int.self) == nil)
            #expect(mapping.optional("none", as: Int.self) == nil)
            #expect(mapping.optional("quoted", as: String.self)?.isEmpty == true)
            #expect(mapping.optional("list", as: [String].self) == ["a"])
            mapping.finish()
        }
        #expect(
            found == [
                "1:1 none: has no value (write one, or leave the key out; `null` means the same as leaving it out)"
            ])
    }

    @Test func `All problems of a file are reported together`() {
        let found = problems(reading: "ttl: soon\nnested: [1]\nlist: {}\nextra: 1") { mapping in
            _ = mapping.required("id", as: String.self)
            _ = mapping.optional("ttl", as: Duration.self)
            _ = mapping.required("nested")?.mapping()
            _ = mapping.required("list")?.elements()
            mapping.finish()
        }
        #expect(
            found == [
                "1:1 id: missing key `id`",
                "1:6 ttl: expected a duration such as 1h, found `soon`",
                "2:9 nested: expected a mapping, found a sequence",
                "3:7 list: expected a sequence, found a mapping",
                "4:1 extra: unknown key `extra` (known here: `id`, `list`, `nested`, `ttl`)",
            ])
    }

    private static let shared = "apps:\n  - token_ttl: 1h\n    environment: production\n"

    /// Reads as the policy loader does: its own key first, then the plugin's type from the same mapping.
    private func readShared(_ text: String) -> [String] {
        problems(reading: text) { root in
            for element in root.required("apps")?.elements() ?? [] {
                guard let mapping = element.mapping() else { continue }
                _ = mapping.optional("token_ttl", as: Duration.self)
                _ = mapping.decode(Plugin.self)
                mapping.finish()
            }
            root.finish()
        }
    }

    @Test func `A mapping may be shared by the loader and a plugin`() {
        #expect(readShared(Self.shared).isEmpty)
    }

    @Test func `A key is unknown when neither the loader nor the plugin asked for it`() {
        #expect(
            readShared(Self.shared + "    token_tll: 2h\n    limit: {rate: 1}\n    other: 1\n") == [
                "4:5 apps[0].token_tll: unknown key `token_tll` (did you mean `token_ttl`?)",
                "5:5 apps[0].limit: unknown key `limit` (did you mean `limits`?)",
                "6:5 apps[0].other: unknown key `other` (known here: `environment`, `limits`, `token_ttl`)",
            ])
    }

    @Test func `Unknown keys within the plugin's own mappings are reported once`() {
        #expect(
            readShared(Self.shared + "    limits: {rate: 1, rates: 2}\n") == [
                "4:23 apps[0].limits.rates: unknown key `rates` (did you mean `rate`?)"
            ])
    }

    @Test func `A plugin that stopped half-way leaves no false unknown keys`() {
        #expect(
            readShared("apps:\n  - limits: {rate: 1}\n    environment: true\n") == [
                "3:18 apps[0].environment: expected a string, found `true` (quote it: \"true\")"
            ])
    }

    @Test func `Names are walked in the order of the file`() {
        let found = problems(reading: "debug: {a: 1}\napp_attest: {}") { mapping in
            let all = mapping.all()
            #expect(all.map(\.entry.key) == ["debug", "app_attest"])
            #expect(all.map(\.entry.keyLocation.line) == [1, 2])
            #expect(all.map(\.value.path.description) == ["debug", "app_attest"])
            mapping.finish()
            mapping.report("unknown provider", key: "debug", hint: "did you mean `debugger`?")
            mapping.report("needed here", key: "absent")
        }
        #expect(found == ["1:1 debug: unknown provider (did you mean `debugger`?)", "1:1 absent: needed here"])
    }

    @Test func `A value that was left out is an empty mapping`() {
        let found = problems(reading: "debug:\nother: null") { mapping in
            #expect(mapping.required("debug")?.mapping()?.all().isEmpty == true)
            #expect(mapping.required("other")?.mapping() == nil)
        }
        #expect(found == ["2:8 other: expected a mapping, found `null`"])
    }

    @Test func `A reader reports in its own words`() {
        let found = problems(reading: "debug:\n  tokens: [a, b]") { mapping in
            let section = mapping.required("debug")
            section?.report("not here", hint: "move it")
        }
        #expect(found == ["2:3 debug: not here (move it)"])
    }

    @Test func `Unknown keys are found in a mapping of any size`() {
        for size in [1, 16, 17, 63, 64, 65, 130] {
            let text = (0..<size).map { "key\($0): \($0)\n" }.joined()
            let found = problems(reading: text) { mapping in
                for index in 0..<(size - 1) { #expect(mapping.required("key\(index)", as: Int.self) == index) }
                mapping.finish()
            }
            #expect(found.count == 1)
            #expect(found.first?.hasPrefix("\(size):1 key\(size - 1): unknown key") == true)
        }
    }
}
