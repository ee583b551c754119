import AssayCore
import AssayKit
import AssayPolicy
import AssayYAML
import Foundation
import Testing

@testable import AssayProcesses

@Suite("The file plugins.yaml")
struct PluginsFileTests {
    @Test("It names commands and sockets")
    func good() throws {
        let file = try PluginsFile(
            PolicyFile(
                name: "plugins.yaml",
                text: """
                    providers:
                      widget:
                        command: [/opt/plugin, --verbose]
                        sha256: \(String(repeating: "0A", count: 32))
                        user: plugin
                        environment: {COLOUR: red}
                        restarts: 3
                        start_time: 20s
                    consumers:
                      desk: {socket: /run/desk.sock}
                    """))
        #expect(file.plugins.map(\.name) == ["widget", "desk"])
        #expect(file.plugins.map(\.kind) == [.provider, .consumer])
        guard case .command(let command) = file.plugins[0].origin,
            case .socket("/run/desk.sock") = file.plugins[1].origin
        else { return #expect(Bool(false)) }
        #expect(command.words == ["/opt/plugin", "--verbose"])
        #expect(command.digest == [UInt8](repeating: 10, count: 32))
        #expect(command.environment.map(\.name) == ["COLOUR"])
        #expect(file.plugins[0].limits.restarts == 3)
        #expect(file.plugins[0].limits.startTime == .seconds(20))
    }

    @Test(
        "What is wrong is said at its place",
        arguments: [
            ("providers: {a: {}}", "1:16", "neither"), ("providers: {a: {command: [/a], socket: /b}}", "1:16", "both"),
            ("providers: {a: {command: [plugin]}}", "1:27", "absolute"),
            ("providers: {a: {command: []}}", "1:26", "absolute"),
            ("providers: {a: {command: [/a], sha256: abc}}", "1:40", "64"),
            ("providers: {a: {socket: plugin.sock}}", "1:25", "absolute"),
            ("providers: {a: {socket: /a, user: b}}", "1:35", "no effect"),
            ("providers: {a: {command: [/a], environment: {ASSAY_PLUGIN_SOCKET: b}}}", "1:67", "set by Assay"),
            ("providers: {a: {command: [/a], environment: {'a b': c}}}", "1:53", "variable"),
            ("providers: {a: {command: [/a], restarts: -1}}", "1:42", "0 to 1000"),
            ("providers: {a: {command: [/a], start_time: 1h}}", "1:44", "1s to 2m"),
            ("provider: {a: {command: [/a]}}", "1:1", "`providers`"),
            ("providers: {a: {comand: [/a]}}", "1:17", "`command`"),
        ])
    func wrong(text: String, place: String, words: String) {
        do {
            _ = try PluginsFile(PolicyFile(name: "plugins.yaml", text: text))
            Issue.record("it was accepted")
        } catch {
            let found = error.all.map(\.description)
            #expect(found.contains { $0.hasPrefix("plugins.yaml:\(place):") && $0.contains(words) }, "\(found)")
        }
    }

    @Test("It is no policy, and a folder need not have one")
    func folder() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("plugins-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data("projects: []\n".utf8).write(to: folder.appendingPathComponent("a.yaml"))
        let directory = PolicyDirectory(folder.path)
        #expect(try PluginsFile.read(in: directory) == nil)
        try Data("consumers: {desk: {socket: /run/desk.sock}}\n".utf8)
            .write(to: folder.appendingPathComponent("plugins.yaml"))
        #expect(try PluginsFile.read(in: directory)?.plugins.count == 1)
        #expect(try directory.files().count == 1)
    }

    @Test("The schema has every key")
    func schema() {
        let text = String(decoding: PluginsFile.schema.encoded, as: UTF8.self)
        for key in ["providers", "consumers", "command", "sha256", "user", "environment", "socket", "restarts"] {
            #expect(text.contains("\"\(key)\""))
        }
    }
}
