import AssayCore
import AssayEngine
import AssayKit
import AssayPolicy
import AssayPolicyTools
import AssayServices
import AssayStandard
import AssayTestSupport
import AssayYAML
import Foundation
import Logging
import Testing

@testable import AssayCommand

@Suite("The JSON Schema of policies agrees with the code that reads them")
struct PolicySchemaTests {
    private static let file = repository.appendingPathComponent("policies/assay-policy.schema.json")
    private static let registry = Result { try Registry(.standard, administration: .api) }

    private static let limits = JSON.Limits(
        bytes: 4 << 20, depth: 64, values: 100_000, allowsRepeatedNames: false)

    private static let fixtures = Result { try SchemaFixtures() }

    /// The schema, and a document with all that it has: the same for every test.
    private static let sample = Result {
        let schema = try registry.get().policySchema
        let walk = SchemaWalk(validator: SchemaValidator(root: schema), fixtures: try fixtures.get().values)
        // What is shared takes the place of keys that the tests take away: it has tests of its own.
        let shared = ["profiles", "issuers", "apple_teams"]
        let document = JSON.object(
            (walk.sample(schema).members ?? []).map { shared.contains($0.name) ? JSONMember($0.name, [:]) : $0 })
        return (walk: walk, document: document)
    }

    private let walk: SchemaWalk
    private let document: JSON
    private let host: PluginHost

    init() throws {
        let fixtures = try Self.fixtures.get()
        (walk, document) = try Self.sample.get()
        host = PluginHost(
            store: MemoryStore(clock: .system), secrets: SecretSource { fixtures.secret($0) },
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
    }

    private func problems(_ document: JSON) throws -> [Diagnostic] {
        let registry = try Self.registry.get()
        let policies = PolicySet.read([PolicyFile(name: "a.yaml", bytes: document.encoded)])
        do throws(Diagnostics) {
            try policies.check(registry, host: host)
            return []
        } catch {
            return error.all
        }
    }

    /// What is wrong at a place or below it.
    private func problems(at path: String, _ document: JSON) throws -> [Diagnostic] {
        try problems(document).filter { isAt(path, $0) }
    }

    private func isAt(_ path: String, _ problem: Diagnostic) -> Bool {
        problem.path == path || problem.path.hasPrefix(path + ".") || problem.path.hasPrefix(path + "[")
    }

    @Test("The file in the folder of policies is what the command prints")
    func committed() async throws {
        let printed = try await AssayProcess.run("policy", "schema")
        #expect(printed.status == 0)
        let committed = try String(contentsOf: Self.file, encoding: .utf8)
        #expect(
            committed == printed.output,
            "write it anew: assay policy schema > policies/assay-policy.schema.json")
        #expect(try JSON.parse(Array(committed.utf8), limits: Self.limits) == Self.registry.get().policySchema)
    }

    @Test("The schema of the list of plugins beside it is what the command prints")
    func plugins() async throws {
        let printed = try await AssayProcess.run("plugins", "schema")
        let file = Self.file.deletingLastPathComponent().appendingPathComponent("assay-plugins.schema.json")
        #expect(
            try String(contentsOf: file, encoding: .utf8) == printed.output,
            "write it anew: assay plugins schema > policies/assay-plugins.schema.json")
    }

    @Test("Every key is explained, and no word is used that the tests do not know")
    func described() throws {
        for place in walk.places(document) {
            #expect(walk.validator.unknownWords(of: place.schema).isEmpty, "\(place.path)")
            for property in place.schema["properties"]?.members ?? [] {
                let text = walk.validator.resolved(property.value)["description"]?.string ?? ""
                #expect(text.hasSuffix("."), "\(place.path).\(property.name) needs a sentence in `keys` of its type")
            }
        }
    }

    @Test("Every key of every plugin is explained, also those that no sample has")
    func allDescribed() throws {
        for definition in walk.validator.root["$defs"]?.members ?? [] {
            for property in definition.value["properties"]?.members ?? [] {
                let text = walk.validator.resolved(property.value)["description"]?.string ?? ""
                let own = property.value["description"]?.string ?? ""
                #expect((own + text).hasSuffix("."), "\(definition.name).\(property.name) needs a sentence")
            }
        }
    }

    @Test("A document with every key, and each alternative, is good by the schema and by the code")
    func complete() throws {
        #expect(walk.validator.accepts(document, by: walk.validator.root))
        let found = try problems(document).map { "\($0)" }
        #expect(found == [])
        for place in walk.places(document) {
            for group in walk.alternatives(place.schema) {
                for key in group.dropFirst() {
                    let members = (place.value.members ?? []).filter { !group.contains($0.name) }
                    let value = walk.sample(place.schema["properties"]?[key] ?? .null, key: key)
                    let other = place.replacing(.object(members + [JSONMember(key, value)]))
                    #expect(walk.validator.accepts(other, by: walk.validator.root), "\(place.path).\(key)")
                    #expect(try problems(other).map { "\($0)" } == [], "\(place.path).\(key)")
                }
                let without = place.replacing(.object((place.value.members ?? []).filter { !group.contains($0.name) }))
                #expect(!walk.validator.accepts(without, by: walk.validator.root))
                #expect(try !problems(at: place.path, without).isEmpty, "\(place.path) without any of \(group)")
            }
        }
    }

    @Test("The code accepts exactly the keys that the schema has, in every mapping")
    func sameKeys() throws {
        for whole in walk.places(document)
        where whole.schema["properties"] != nil && whole.schema["additionalProperties"] == .bool(false) {
            let place = try small(whole)
            // What an issuer builds on is found before its section is decoded.
            let known = (place.schema["properties"]?.members ?? []).map(\.name).sorted().filter { $0 != "extends" }
            let other = place.replacing(.object((place.value.members ?? []) + [JSONMember("zzzzzzzzzz", 1)]))
            #expect(!walk.validator.accepts(other, by: walk.validator.root), "\(place.path)")
            let path = place.path.isEmpty ? "zzzzzzzzzz" : "\(place.path).zzzzzzzzzz"
            let found = try problems(other).filter { $0.path == path }
            if place.key == "providers" || place.key == "consumers" {
                #expect(found.first?.message == "unknown \(place.key.dropLast()) `zzzzzzzzzz`")
            } else {
                #expect(found.first?.message == "unknown key `zzzzzzzzzz`", "\(path)")
            }
            #expect(
                found.first?.hint == "known here: \(known.map { "`\($0)`" }.joined(separator: ", "))", "\(place.path)")
        }
    }

    @Test("The code misses exactly the keys that the schema requires")
    func sameRequirements() throws {
        for whole in walk.places(document) where whole.schema["properties"] != nil {
            let place = try small(whole)
            #expect(place.value == whole.value)
            let required = (place.schema["required"]?.array ?? []).compactMap(\.string)
            for member in place.value.members ?? [] {
                let rest = (place.value.members ?? []).filter { $0.name != member.name }
                let path = place.path.isEmpty ? member.name : "\(place.path).\(member.name)"
                let isMissed = try problems(place.replacing(.object(rest))).contains {
                    $0.path == path && $0.message == "missing key `\(member.name)`"
                }
                #expect(isMissed == required.contains(member.name), "\(path)")
            }
        }
    }

    /// A place of a document with nothing but what the place needs beside it: to judge that takes a tenth of the time.
    private func small(_ place: SchemaWalk.Place) throws -> SchemaWalk.Place {
        try smallPlaces(for: place.path).first { $0.path == place.path } ?? place
    }

    /// The places of such a document.
    private func smallPlaces(for path: String) throws -> [SchemaWalk.Place] {
        // Some keys go together without a schema that says so: then more remains.
        for keepsSection in [false, true] {
            let needed = walk.needed(document, for: path, keepsSection: keepsSection)
            let places = walk.places(needed)
            if try problems(needed).isEmpty, places.contains(where: { $0.path == path }) { return places }
        }
        return walk.places(document)
    }

    /// Values of many forms: each is tried in every place that holds no other values.
    private static let candidates: [JSON] = [
        "", "0", "a", "A", "a b", "é", "-", ".", "a-b_c.d", "01", "1234567890", "ABCDE12345", "abcde12345", "ABCDE1234",
        "com.example.app", "1:2:ios:ab", "1:2:ios", "x:2:ios:ab", "https://example.com/", "https://example.com",
        "http://example.com/", "https:///", "1h", "1h30m", "30m1h", "1d2h3m4s", "1x", "h", "1 h", "1H", "5m", "29m59s",
        "30m", "7d", "8d", "env:A", "file:/x", "env:", "vault:a", "2027-01-01T00:00:00Z", "2027-01-01", "tomorrow",
        .string(String(repeating: "0", count: 64)), .string(String(repeating: "F", count: 64)),
        .string(String(repeating: "0", count: 63)), .string(String(repeating: "g", count: 64)),
        .string(String(repeating: "a", count: 101)), .string(String(repeating: "a", count: 201)),
        "no_such_choice", true, false, 0, 1, -1, 2, 2048, 1_234_567_890, .number(1.5), [], [[]], [:], ["a": 1],
    ]

    /// Whether a candidate is tried at a place: each in turn at every fourth one, since each trial loads a document.
    ///
    /// With `ASSAY_SCHEMA_VALUES=all` in the environment, at all of them.
    private func isTried(_ candidate: Int, at place: Int) -> Bool {
        candidate < 0 || (candidate + place) % 4 == 0 || Self.triesAll
    }
    private static let triesAll = ProcessInfo.processInfo.environment["ASSAY_SCHEMA_VALUES"] == "all"

    /// A value in a place, and whether the schema takes it.
    private struct Trial {
        let place: SchemaWalk.Place
        let value: JSON
        let isGood: Bool
    }

    @Test(
        "Values are good by the schema where they are good by the code: choices, forms, types and numbers",
        arguments: 0..<8)
    func sameValues(part: Int) throws {
        let places = walk.places(document)
        let names = Set(places.flatMap { $0.schema["properties"]?.members ?? [] }.map(\.name))
        var trials: [String: [[Trial]]] = [:]
        for (index, place) in places.enumerated() where place.schema["properties"] == nil {
            guard !SchemaFixtures.beyondForm.contains(place.key) else { continue }
            trials[place.parent, default: []].append(self.trials(at: place, index / 8))
        }
        for (index, parent) in trials.keys.sorted().enumerated() where index % 8 == part {
            var columns = trials[parent] ?? []
            guard let first = columns.compactMap(\.last).first else { continue }
            let small = try smallPlaces(for: first.place.path)
            // One value for each key at a time: those that are to be found bad, and those that are to be good.
            while columns.contains(where: { !$0.isEmpty }) {
                let row = columns.indices.compactMap { columns[$0].popLast() }
                for isGood in [true, false] {
                    try judge(row.filter { $0.isGood == isGood }, in: small, parent, isGood, names)
                }
            }
        }
    }

    /// The values that are tried at a place.
    private func trials(at place: SchemaWalk.Place, _ number: Int) -> [Trial] {
        let choices = place.schema["enum"]?.array ?? []
        return (choices + Self.candidates).enumerated().compactMap { index, value in
            guard isTried(index - choices.count, at: number) else { return nil }
            if place.value.array != nil, value.array?.isEmpty == false { return nil }
            // A number without quotes is text where text is asked for, but no pattern judges it.
            if place.schema["pattern"] != nil, value.isNumber { return nil }
            return Trial(
                place: place, value: value,
                isGood: walk.validator.accepts(value, by: place.schema) && isInBounds(value, place.schema))
        }
    }

    /// Judges values of one mapping by one document, and what that leaves open by a document for each value: one key's problem
    /// may hide that of another one.
    private func judge(
        _ trials: [Trial], in places: [SchemaWalk.Place], _ parent: String, _ isGood: Bool, _ names: Set<String>
    ) throws {
        var open = trials
        if trials.count > 1, let mapping = places.first(where: { $0.path == parent }),
            let members = mapping.value.members
        {
            let values = Dictionary(uniqueKeysWithValues: trials.map { ($0.place.key, $0.value) })
            let found = try problems(
                mapping.replacing(.object(members.map { JSONMember($0.name, values[$0.name] ?? $0.value) })))
            open = isGood && found.isEmpty ? [] : trials.filter { isGood || about($0.place, in: found, names).isEmpty }
        }
        for trial in open {
            let place = places.first { $0.path == trial.place.path } ?? trial.place
            let found = try about(place, in: problems(place.replacing(trial.value)), names)
            #expect(
                found.isEmpty == isGood,
                "\(place.path): \(String(decoding: trial.value.encoded, as: UTF8.self)) is \(isGood ? "" : "not ")good by the schema: \(found)"
            )
        }
    }

    /// The problems at a place or below it that are those of its value alone.
    private func about(_ place: SchemaWalk.Place, in problems: [Diagnostic], _ names: Set<String>) -> [Diagnostic] {
        problems.filter { isAt(place.path, $0) && !isAboutAnotherKey($0, than: place.key, names) }
    }

    @Test(
        "The pattern of durations is that of the code",
        arguments: [
            "1h", "0s", "1d2h3m4s5ms", "5ms", "1m5ms", "999999999d", "1000000000d", "", "h", "1", "1H", "1h 2m", "1m1h",
            "1h1h", "-1h", "1.5h", "1ms1s", "1µs", "1hm", "1s\n", "٣h",
        ])
    func durationPattern(_ text: String) {
        let schema: JSON = ["$ref": "#/$defs/duration"]
        #expect(walk.validator.accepts(.string(text), by: schema) == (YAMLNode.duration(text) != nil))
    }

    /// Whether a problem is one of two keys that do not go together: no schema of one key tells.
    private func isAboutAnotherKey(_ problem: Diagnostic, than key: String, _ names: Set<String>) -> Bool {
        !problem.message.hasPrefix("expected one of ")
            && names.contains { $0 != key && problem.message.contains("`\($0)`") }
    }

    /// Whether a duration is within the bounds that JSON Schema itself cannot compare.
    private func isInBounds(_ value: JSON, _ schema: JSON) -> Bool {
        func duration(_ json: JSON?) -> Duration? { json?.string.flatMap { YAMLNode.duration($0) } }
        guard let least = duration(schema["durationMinimum"]), let most = duration(schema["durationMaximum"]),
            let value = duration(value)
        else { return true }
        return value >= least && value <= most
    }

    @Test("The bounds of durations are those of the code, to the second")
    func sameDurations() throws {
        var count = 0
        for whole in walk.places(document) {
            for (bound, step) in [("durationMinimum", -1), ("durationMaximum", 1)] {
                guard let text = whole.schema[bound]?.string, let duration = YAMLNode.duration(text) else { continue }
                let place = try small(whole)
                count += 1
                let beyond = "\(duration.components.seconds + Int64(step))s"
                #expect(try problems(at: place.path, place.replacing(.string(text))).isEmpty, "\(place.path): \(text)")
                #expect(
                    try !problems(at: place.path, place.replacing(.string(beyond))).isEmpty, "\(place.path): \(beyond)")
            }
        }
        #expect(count >= 4)
    }

    @Test("The example policies are good by the schema, and name it")
    func examples() throws {
        let folder = repository.appendingPathComponent("policies")
        for file in try PolicyDirectory(folder.path).files() {
            let root = try YAMLDocument.parse(file.bytes, file: file.name)
            #expect(walk.validator.accepts(json(root), by: walk.validator.root), "\(file.name)")
            let text = String(decoding: file.bytes, as: UTF8.self)
            #expect(text.hasPrefix("# yaml-language-server: $schema=\(Self.file.lastPathComponent)\n"))
        }
    }

    /// A value as YAML's core schema means it (YAML 1.2, section 10.3), which is how editors judge it.
    private func json(_ node: YAMLNode) -> JSON {
        switch node.content {
        case .mapping(let entries): .object(entries.map { JSONMember($0.key, json($0.value)) })
        case .sequence(let elements): .array(elements.map(json))
        case .scalar(let text, isPlain: false): .string(text)
        case .scalar("", _), .scalar("null", _), .scalar("~", _): .null
        case .scalar("true", _): true
        case .scalar("false", _): false
        case .scalar(let text, _): Int64(text).map { .integer($0) } ?? .string(text)
        }
    }
}

extension JSON {
    fileprivate var isNumber: Bool {
        switch self {
        case .integer, .number: true
        default: false
        }
    }
}

extension SchemaWalk.Place {
    /// The way to the mapping that the key is in; for an element of a list, to the list.
    fileprivate var parent: String {
        let end = path.lastIndex { $0 == "." || $0 == "[" }
        return end.map { String(path[..<$0]) } ?? ""
    }
}
