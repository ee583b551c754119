import AssayEngine
import AssayHTTPServer
import AssayServer
import AssayStandard
import AssayTestSupport
import Foundation
import Logging
import ServiceLifecycle
import Synchronization
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The library that `assay serve` runs, in a program of one's own.
@Suite("A whole server as a library", .timeLimit(.minutes(20)))
struct ServerLibraryTests {
    /// Asks the server once it listens, and then ends it.
    private struct Question: Service {
        let urls: AsyncStream<String>
        let answer: ToldText

        func run() async throws {
            var urls = urls.makeAsyncIterator()
            guard let url = await urls.next(), let page = URL(string: "\(url)/livez") else { return }
            let (_, response) = try await URLSession(configuration: .ephemeral).data(from: page)
            answer.set("\((response as? HTTPURLResponse)?.statusCode ?? 0)")
        }
    }

    @Test("It serves, runs a service of the program's own, leaves one out, and ends when that service does")
    func run() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "assay-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder.appending(path: "policies"), withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data("projects: [{number: 1, id: example-project}]\n".utf8)
            .write(to: folder.appending(path: "policies/a.yaml"))
        let (urls, announce) = AsyncStream.makeStream(of: String.self)
        let answer = ToldText()
        let names = ToldText()
        var configuration = ServerConfiguration(
            plugins: .standard, logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        configuration.policies = .folder(folder.appending(path: "policies").path)
        configuration.state = "sqlite:\(folder.path)/state.sqlite"
        configuration.http.address = .host("127.0.0.1", port: 0)
        configuration.audit.paths = ["\(folder.path)/audit.jsonl"]
        configuration.terminationSignals = []
        configuration.showsLibraryMetrics = false
        configuration.onListening = { announce.yield($0) }
        configuration.arrange = { services in
            #expect(services[.heap] != nil)
            #expect(services[.signals] == nil, "it takes no signals")
            services[.heap] = nil
            services.add(Question(urls: urls, answer: answer))
            names.set(
                ServerServices.Name.allCases.filter { services[$0] != nil }.map(\.rawValue).joined(separator: " "))
        }
        // The end of a service that nobody asked to end is an error.
        await #expect(throws: ServiceGroupError.self) { try await Server(configuration).run() }
        #expect(answer.value == "200")
        #expect(
            names.value
                == "store outboundHTTP audit records certificates readiness keys refresh maintenance reload listeners")
        let audit = try String(contentsOf: folder.appending(path: "audit.jsonl"), encoding: .utf8)
        #expect(audit.contains("\"server_started\""))
    }

    @Test("It runs again with the same audit file, and nothing of an ended one stays in memory")
    func again() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "assay-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder.appending(path: "policies"), withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data("projects: [{number: 1, id: example-project}]\n".utf8)
            .write(to: folder.appending(path: "policies/a.yaml"))
        let engine = WeakEngine()
        for _ in 0..<2 {
            let (urls, announce) = AsyncStream.makeStream(of: String.self)
            var configuration = ServerConfiguration(
                plugins: .standard, logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
            configuration.policies = .folder(folder.appending(path: "policies").path)
            configuration.state = "sqlite:\(folder.path)/state.sqlite"
            configuration.http.address = .host("127.0.0.1", port: 0)
            configuration.operations = nil
            configuration.audit.paths = ["\(folder.path)/audit.jsonl"]
            configuration.terminationSignals = []
            configuration.showsLibraryMetrics = false
            configuration.onListening = { announce.yield($0) }
            configuration.arrange = { services in
                engine.set(services.engine)
                services.add(Question(urls: urls, answer: ToldText()))
            }
            await #expect(throws: ServiceGroupError.self) { try await Server(configuration).run() }
        }
        try await eventually("the engine is released") { engine.isReleased }
        let audit = try String(contentsOf: folder.appending(path: "audit.jsonl"), encoding: .utf8)
        #expect(audit.split(separator: "\n").count { $0.contains("\"server_started\"") } == 2)
    }

    @Test("A second address to listen at replaces the first one, and the log says so")
    func twice() async throws {
        let result = try await AssayProcess.run(
            "serve", "--policies", "/nonexistent", "--state", "memory", "--listen", "127.0.0.1:1",
            "--listen=127.0.0.1:2")
        #expect(result.status == 2)
        #expect(
            result.errors.contains("an option is given more than once: only the last one counts"), "\(result.errors)")
    }

    @Test("What is wrong is thrown, and nothing is served")
    func wrong() async throws {
        let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        var configuration = ServerConfiguration(plugins: .standard, logger: logger)
        configuration.policies = .folder("/nonexistent")
        configuration.state = "memory"
        configuration.keys = "/nonexistent/keys"
        configuration.terminationSignals = []
        configuration.showsLibraryMetrics = false
        configuration.onListening = { Issue.record("it listens on \($0)") }
        await #expect(throws: (any Error).self) { try await Server(configuration).run() }
    }
}

/// An engine that a test does not hold.
private final class WeakEngine: Sendable {
    private struct Reference {
        weak var engine: Engine?
    }

    private let reference = Mutex(Reference())

    var isReleased: Bool { reference.withLock { $0.engine == nil } }

    func set(_ engine: Engine) { reference.withLock { $0.engine = engine } }
}

/// A text that a service tells a test.
private final class ToldText: Sendable {
    private let text = Mutex<String?>(nil)

    var value: String? { text.withLock { $0 } }

    func set(_ value: String) { text.withLock { $0 = value } }
}
