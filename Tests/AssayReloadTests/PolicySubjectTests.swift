import AssayCore
import AssayDebug
import AssayEngine
import AssayKit
import AssayPolicy
import AssayServer
import AssayServices
import Foundation
import Logging
import Synchronization
import Testing

@Suite("Policies of a folder are reloaded")
struct PolicySubjectTests {
    private static let token = "6B4E1D0C-8F3A-4A52-9C1F-0E7D5B2A9C10"

    private let folder: URL
    private let secret: URL

    init() throws {
        let base = FileManager.default.temporaryDirectory.appendingPathComponent("assay-reload-\(UUID().uuidString)")
        folder = base.appendingPathComponent("policies")
        secret = base.appendingPathComponent("secret")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(Self.token.utf8).write(to: secret)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: secret.path)
    }

    private func remove() { try? FileManager.default.removeItem(at: folder.deletingLastPathComponent()) }

    private func policy(_ extra: String = "") -> String {
        """
        projects: [{number: 1, id: a, apps: [{id: "1:1:ios:a", \(extra)providers:
          {debug: {tokens: [{name: a, token: "file:\(secret.path)"}]}}}]}]
        """
    }

    private func write(_ text: String, _ name: String = "a.yaml") throws {
        try Data(text.utf8).write(to: folder.appendingPathComponent(name))
    }

    private func engine() throws -> Engine {
        try Engine(
            registry: Registry([.provider(DebugProvider.self)]), policies: PolicyDirectory(folder.path).read(),
            keys: .ephemeral(), host: host)
    }

    private var host: PluginHost {
        PluginHost(
            store: MemoryStore(clock: .system),
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
    }

    private func isAccepted(_ token: String, by engine: Engine) async -> Bool {
        let call = Call(
            "exchangeDebugToken", resource: "projects/a/apps/1:1:ios:a", body: ["debugToken": .string(token)])
        return (try? await engine.handle(call).result.get()) != nil
    }

    @Test("Good ones are put in force, with the secrets that they refer to read again; bad ones leave all as it is")
    func reload() async throws {
        defer { remove() }
        try write(policy())
        let engine = try engine()
        let loaded = Mutex<[Int]>([])
        let scene = ReloadScene(
            .policies(in: PolicyDirectory(folder.path), for: engine) { policies, _ in
                loaded.withLock { $0.append(policies.apps.count) }
            })
        #expect(await isAccepted(Self.token, by: engine))

        try Data("another token of some length".utf8).write(to: secret)
        await scene.look(3)
        #expect(await isAccepted(Self.token, by: engine))
        await scene.ask()
        #expect(await !isAccepted(Self.token, by: engine))
        #expect(await isAccepted("another token of some length", by: engine))
        #expect(loaded.withLock { $0 } == [1])

        try write(policy("colour: red, nam: a, "))
        await scene.look(2)
        #expect(await isAccepted("another token of some length", by: engine))
        let place = "\(folder.path)/a.yaml"
        guard case .degraded(let reason) = scene.reloader.readiness else {
            Issue.record("not degraded")
            return
        }
        #expect(
            reason.hasPrefix("policies: 2 problems, the first at \(place):1:56: unknown key `colour`; those of 2026"))
        let known = "`capture`, `id`, `name`, `profile`, `providers`, `rate_limit`, `rules`, `token_ttl`"
        let expected: [String] = [
            "error policies cannot be reloaded: no change is applied problems=2",
            "error wrong in policies hint=known here: \(known) path=projects[0].apps[0].colour place=\(place):1:56 problem=unknown key `colour`",
            "error wrong in policies hint=did you mean `name`? path=projects[0].apps[0].nam place=\(place):1:69 problem=unknown key `nam`",
        ]
        #expect(Array(scene.log.dropFirst()) == expected)

        try write(policy("token_ttl: 2h, "))
        await scene.look(2)
        #expect(scene.reloader.readiness == .ready)
        #expect(loaded.withLock { $0 } == [1, 1])
    }

    @Test("A changed policy is applied although another file of the folder changes all the time")
    func noisyNeighbour() async throws {
        defer { remove() }
        try write(policy())
        try write("# 0\nversion: 1", "noise.yaml")
        let engine = try engine()
        let scene = ReloadScene(.policies(in: PolicyDirectory(folder.path), for: engine))
        try write(policy("name: changed, "))
        for number in 1...11 {
            try write("# \(String(repeating: "x", count: number))\nversion: 1", "noise.yaml")
            await scene.look()
        }
        #expect(scene.outcomes == ["policies reloaded"])
        #expect(scene.reloader.readiness == .ready)
    }

    @Test(
        "Policies that change while they are read are not applied, and the service is degraded until they can be read")
    func changeDuringReading() async throws {
        defer { remove() }
        try write(policy())
        let engine = try engine()
        let source = RestlessSource(PolicyDirectory(folder.path))
        let scene = ReloadScene(.policies(in: source, for: engine))
        source.isRestless.withLock { $0 = true }
        await scene.ask()
        #expect(scene.outcomes == ["policies failed"])
        guard case .degraded(let reason) = scene.reloader.readiness else {
            Issue.record("not degraded")
            return
        }
        #expect(reason.hasPrefix("policies: could not be reloaded: the files change while they are read; those of"))
        source.isRestless.withLock { $0 = false }
        await scene.look(10)
        #expect(scene.reloader.readiness == .ready)
    }

    @Test("A relative path of a secret begins at the folder of the policies, whatever the program's folder is")
    func relativeSecrets() async throws {
        defer { remove() }
        let inner = folder.appendingPathComponent("secret-here")
        try FileManager.default.moveItem(at: secret, to: inner)
        try write(policy().replacing("file:\(secret.path)", with: "file:secret-here"))
        #expect(await isAccepted(Self.token, by: try engine()))
        // What is no folder has none: such a path begins where the program runs.
        let file = PolicyFile(
            name: "\(folder.path)/a.yaml", text: policy().replacing("file:\(secret.path)", with: "file:secret-here"))
        let error = #expect(throws: (any Error).self) {
            try PolicySet.load([file]).check(Registry([.provider(DebugProvider.self)]), host: host)
        }
        #expect(error.map { "\($0)".contains("secret-here") } == true)
    }

    @Test("A folder that vanishes, or that holds no policy any more, is no reason to serve nobody")
    func vanishing() async throws {
        defer { remove() }
        try write(policy())
        let engine = try engine()
        let scene = ReloadScene(.policies(in: PolicyDirectory(folder.path), for: engine))
        for step in ["empty", "gone"] {
            if step == "empty" {
                try FileManager.default.removeItem(at: folder.appendingPathComponent("a.yaml"))
            } else {
                try FileManager.default.removeItem(at: folder)
            }
            await scene.look(2)
            #expect(scene.reloader.readiness != .ready, "\(step)")
            #expect(await isAccepted(Self.token, by: engine))
        }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try write(policy())
        await scene.look(2)
        #expect(scene.reloader.readiness == .ready)
    }

    @Test("Valid policies without any app are no reason to serve nobody, and those in force stay")
    func noApps() async throws {
        defer { remove() }
        try write(policy())
        try write("callers: {admin: {token: 'file:\(secret.path)', permissions: [admin]}}", "b.yaml")
        let directory = PolicyDirectory(folder.path)
        let engine = try engine()
        let scene = ReloadScene(.policies(in: directory, for: engine, present: directory.read()))
        try FileManager.default.removeItem(at: folder.appendingPathComponent("a.yaml"))
        await scene.look(2)
        #expect(scene.outcomes == ["policies failed"])
        #expect(
            scene.log == [
                "error policies cannot be reloaded: no change is applied "
                    + "error=no policy defines an app or an OAuth client any more; to serve without any, restart"
            ])
        guard case .degraded(let reason) = scene.reloader.readiness else {
            Issue.record("not degraded")
            return
        }
        #expect(
            reason.hasPrefix(
                "policies: could not be reloaded: no policy defines an app or an OAuth client any more; to serve without any, restart; "
            ))
        #expect(await isAccepted(Self.token, by: engine))
        try write(policy())
        await scene.look(2)
        #expect(scene.reloader.readiness == .ready)
    }

    @Test("Of policies that say less than before the log says what there is less of")
    func fewer() async throws {
        defer { remove() }
        try write(policy())
        try write("callers: {admin: {token: 'file:\(secret.path)', permissions: [admin]}}", "b.yaml")
        let directory = PolicyDirectory(folder.path)
        let engine = try engine()
        let scene = ReloadScene(.policies(in: directory, for: engine, present: directory.read()))
        let hash = String(repeating: "ab", count: 32)
        let longer = policy().replacing(
            "tokens: [", with: "tokens: [{name: b, sha256: \(hash), expires: 2026-12-31T00:00:00Z}, ")
        try write(longer)
        await scene.look(2)
        try FileManager.default.removeItem(at: folder.appendingPathComponent("b.yaml"))
        await scene.look(2)
        try write(policy())
        await scene.look(2)
        // Each line ends with the revision.
        let lines = scene.log.map { line in line.components(separatedBy: " revision=") }
        #expect(lines.allSatisfy { $0.count == 2 && $0[1].utf8.count == 16 })
        #expect(
            lines.map { $0[0] } == [
                "notice policies reloaded apps=1 oauth_clients=0",
                "notice policies reloaded apps=1 fewer=callers 1 to 0 oauth_clients=0",
                "notice policies reloaded apps=1 fewer=debug 5 to 2 oauth_clients=0",
            ])
    }

    @Test("Files that were only touched change nothing, until somebody asks")
    func touched() async throws {
        defer { remove() }
        try write(policy())
        let directory = PolicyDirectory(folder.path)
        let engine = try engine()
        let revision = engine.revision
        let refused = Mutex<[PolicyRevision]>([])
        let scene = ReloadScene(
            .policies(
                in: directory, for: engine, present: directory.read(),
                refused: { revision, _ in refused.withLock { $0.append(revision) } }))
        try write(policy())
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1)],
            ofItemAtPath: folder.appendingPathComponent("a.yaml").path)
        await scene.look(2)
        #expect(scene.outcomes == ["policies unchanged"])
        await scene.ask()
        #expect(scene.outcomes == ["policies unchanged", "policies reloaded"])
        #expect(engine.revision == revision)

        // A wrong file that is mended again is no change either, and is refused once.
        try write("projects: 5")
        await scene.look(4)
        try write(policy())
        await scene.look(2)
        #expect(refused.withLock { $0.count } == 1)
        #expect(scene.reloader.readiness == .ready)
        #expect(engine.revision == revision)
        try write(policy("token_ttl: 2h, "))
        await scene.look(2)
        #expect(engine.revision != revision)
    }

    @Test("What changed between the reading and the start is seen")
    func changedBeforeTheStart() async throws {
        defer { remove() }
        try write(policy())
        let directory = PolicyDirectory(folder.path)
        let loaded = directory.fingerprint
        let engine = try engine()
        try write(policy("name: another, "))
        let scene = ReloadScene(.policies(in: directory, for: engine, loaded: loaded))
        await scene.look(2)
        #expect(scene.outcomes == ["policies reloaded"])
    }

    @Test("Links that are pointed elsewhere, as Kubernetes does with a ConfigMap, are a change")
    func links() async throws {
        defer { remove() }
        let files = FileManager.default
        func version(_ name: String, _ text: String) throws {
            let version = folder.appendingPathComponent("..\(name)")
            try files.createDirectory(at: version, withIntermediateDirectories: true)
            try Data(text.utf8).write(to: version.appendingPathComponent("a.yaml"))
            let link = folder.appendingPathComponent("..data_tmp")
            try files.createSymbolicLink(atPath: link.path, withDestinationPath: "..\(name)")
            #expect(rename(link.path, folder.appendingPathComponent("..data").path) == 0)
        }
        try version("2026_1", policy())
        try files.createSymbolicLink(
            atPath: folder.appendingPathComponent("a.yaml").path, withDestinationPath: "..data/a.yaml")
        let engine = try engine()
        let scene = ReloadScene(.policies(in: PolicyDirectory(folder.path), for: engine))
        await scene.look(2)
        #expect(scene.outcomes == [])
        try version("2026_2", policy("nonsense: 1, "))
        await scene.look(2)
        #expect(scene.reloader.readiness != .ready)
        try version("2026_3", policy("name: third, "))
        await scene.look(2)
        #expect(scene.outcomes == ["policies failed", "policies reloaded"])
        #expect(scene.reloader.readiness == .ready)
    }

    @Test(
        "Every kind of change of the files is seen, and of other files none",
        arguments: ["content", "same size", "added", "removed", "replaced", "renamed", "touched"])
    func changes(_ kind: String) async throws {
        defer { remove() }
        let file = folder.appendingPathComponent("a.yaml")
        try write(policy())
        let directory = PolicyDirectory(folder.path)
        var before = directory.fingerprint
        #expect(directory.fingerprint == before)
        try write("notes", "notes.txt")
        try write("x: [", ".hidden.yaml")
        #expect(directory.fingerprint == before)
        // File systems count time in steps of some milliseconds.
        try await Task.sleep(for: .milliseconds(50))
        switch kind {
        case "content": try write(policy("name: x, "))
        case "same size": try write(policy().replacing("ios:a", with: "ios:b"))
        case "added": try write("projects: []", "b.yml")
        case "removed":
            try write("projects: []", "b.yml")
            before = directory.fingerprint
            try FileManager.default.removeItem(at: folder.appendingPathComponent("b.yml"))
        case "replaced":
            let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
            try write(policy(), "new")
            try FileManager.default.setAttributes(
                [.modificationDate: attributes[.modificationDate] as Any],
                ofItemAtPath: folder.appendingPathComponent("new").path)
            #expect(rename(folder.appendingPathComponent("new").path, file.path) == 0)
        case "renamed":
            try FileManager.default.moveItem(at: file, to: folder.appendingPathComponent("b.yaml"))
        default:
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: 1)], ofItemAtPath: file.path)
        }
        #expect(directory.fingerprint != before)
    }
}

/// A folder with files that change whenever they are read.
private final class RestlessSource: PolicySource {
    let isRestless = Mutex(false)
    private let readings = Mutex(0)
    private let folder: PolicyDirectory

    init(_ folder: PolicyDirectory) { self.folder = folder }

    var fingerprint: FileFingerprint {
        guard isRestless.withLock({ $0 }) else { return folder.fingerprint }
        return FileFingerprint(of: ["/proc/no/such/\(readings.withLock { $0 })"])
    }

    func read() -> PolicySet {
        readings.withLock { $0 += 1 }
        return folder.read()
    }
}
