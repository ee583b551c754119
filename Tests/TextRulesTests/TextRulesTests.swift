import Foundation
import Testing
import TextRuleSamples

/// Text from outside is compared by its bytes: no code of the product compares, hashes, orders or folds `String`.
///
/// The rule is checked in what the compiler made. It needs the debug build for Linux, which these tests run in.
@Suite(.enabled(if: CompiledModule.folder != nil, "the objects of a debug build on Linux are needed"))
struct TextRulesTests {
    /// What may stay, and why.
    ///
    /// Beside it stays what `protoc` makes of the names of fields, of which only these are read.
    private static let allowed: [(function: String, file: String?, reason: String)] = [
        ("AssayKit.ConsumerSelection.", nil, "names of fields that plugins declare"),
        ("AssayCore.HTTPRule.Body.", nil, "names of fields that plugins declare"),
        ("AssayCore.MessageField.Kind.", nil, "choices that plugins declare"),
        // Of the same enumeration: the hash of its list of choices.
        (
            "lazy protocol witness table accessor for type Swift.Array<Swift.String>", "MessageShape.swift",
            "choices that plugins declare"
        ),
        ("AssayCore.PolicyKey.Rule.", nil, "patterns that plugins declare"),
        ("AssayEngine.UnofferedMethods.", nil, "names and rules of methods that stand in the code"),
        ("AssayProcesses.PluginsFile", nil, "words of the operator"),
        ("AssayProcesses.PluginEntry.", nil, "words of the operator"),
        ("AssayProcesses.ProcessPlugin.(providerSubject", nil, "names of fields that a simulated device declares"),
        ("AssayPolicy.PolicySchema.", nil, "words of the schema that stand in the code"),
    ]

    /// Modules that see no text of strangers.
    ///
    /// They are simulated devices and servers, the command, which reads the operator's words, and the tool that writes packages.
    private static let exempt: Set = [
        "AssaySimulation", "AssayTesting", "AssayTestingHTTP", "AssayCommand", "AssayStandard", "assay", "NewPlugin",
    ]

    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    static let modules: [String] = {
        let plugins = subfolders("Plugins").flatMap { subfolders("Plugins/\($0)") }.map { "Assay\($0)" }
        // Modules of C, and clients in other languages, have no code in Swift.
        return (subfolders("Sources") + plugins).filter {
            !$0.hasPrefix("CLib") && !["CPKCS11", "CProcess", "CSpawn", "Clients"].contains($0) && !exempt.contains($0)
        }
    }()

    private static func subfolders(_ path: String) -> [String] {
        let folder = root.appendingPathComponent(path)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.filter { !$0.hasPrefix(".") && !$0.contains(".") }.sorted()
    }

    @Test("no module compares text but by its bytes", arguments: modules)
    func keepsTheRule(module: String) throws {
        let compiled = try CompiledModule(module, in: try #require(CompiledModule.folder))
        for finding in compiled.findings
        where !finding.file.hasSuffix(".pb.swift")
            && !Self.allowed.contains(where: {
                finding.function.contains($0.function) && ($0.file ?? finding.file) == finding.file
            })
        {
            Issue.record("\(module)/\(finding): use ExactText, isExactly(_:) or UTF-8 bytes")
        }
    }

    @Test("the product's modules are found")
    func findsModules() {
        for name in ["AssayCore", "AssayKit", "AssayEngine", "AssayHTTP", "AssayAppAttest", "AssaySQLite"] {
            #expect(Self.modules.contains(name))
        }
    }

    @Test(
        "each way to compare text otherwise is found",
        arguments: [
            ("EqualStrings", "== of String"), ("DifferentStrings", "== of String"),
            ("SwitchOverString", "== of String"), ("SetOfStrings", "String as Hashable"),
            ("DictionaryOfStrings", "String as Hashable"), ("ArrayContainsString", "String as Equatable"),
            ("PrefixOfString", "hasPrefix of String"), ("SuffixOfSubstring", "hasSuffix of StringProtocol"),
            ("LowercasedString", "lowercased of String"), ("UppercasedSubstring", "uppercased of Substring"),
            ("SplitOnCharacter", "Character as Equatable"), ("CountOfCharacters", "count of String"),
            ("EqualSubstring", "== of StringProtocol"), ("SortedStrings", "String as Comparable"),
            ("LesserString", "< of String"), ("CaseOfText", "init(rawValue:) of an enumeration"),
            ("SynthesisedEquality", "== of String"), ("SynthesisedEquality", "String as Hashable"),
            ("SynthesisedPayloadEquality", "== of String"),
        ])
    func finds(sample: String, rule: String) throws {
        let samples = try CompiledModule("TextRuleSamples", in: try #require(CompiledModule.folder))
        let found = samples.findings.filter { $0.file == "\(sample).swift" }.map(\.rule)
        #expect(found.contains(rule), "found in \(sample): \(found)")
    }

    @Test("code that compares by bytes passes")
    func passesKeptRule() throws {
        let samples = try CompiledModule("TextRuleSamples", in: try #require(CompiledModule.folder))
        #expect(samples.findings.filter { $0.file == "KeepsTheRule.swift" } == [])
    }
}
