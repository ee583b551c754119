import AssayClient
import Synchronization
import Testing

/// An ``AppCheck`` with a debug provider, a service in the process and a clock that a test moves.
struct ClientScene {
    let clock = FakeClock()
    let service: FakeService
    let storage: any ClientStorage
    let notices = Notices()
    let appCheck: AppCheck

    init(
        _ service: FakeService = FakeService(), storage: any ClientStorage = MemoryStorage(),
        app: String = FakeToken.app,
        endpoint: String = "https://assay.example.com", fetchLimit: Interval = .minutes(2),
        provider: any AppCheckProvider = DebugProvider(debugToken: "6B4E1D0C-8F3A-4A52-9C1F-0E7D5B2A9C10")
    ) throws {
        self.service = service
        self.storage = storage
        var options = AppCheckOptions(transport: service, storage: storage)
        options.clock = clock
        options.fetchLimit = fetchLimit
        options.environment = { _ in nil }
        options.notice = { [notices] in notices.add($0) }
        appCheck = try AppCheck(app: app, endpoint: endpoint, provider: provider, options: options)
    }

    /// The same app after a restart of the program, with the clock and the storage of this one.
    func restarted(endpoint: String = "https://assay.example.com", app: String = FakeToken.app) throws -> AppCheck {
        var options = AppCheckOptions(transport: service, storage: storage)
        options.clock = clock
        options.notice = { [notices] in notices.add($0) }
        return try AppCheck(
            app: app, endpoint: endpoint, provider: DebugProvider(debugToken: "6B4E1D0C-8F3A-4A52-9C1F-0E7D5B2A9C10"),
            options: options)
    }
}

final class Notices: Sendable {
    private let sentences = Mutex<[String]>([])

    var all: [String] { sentences.withLock { $0 } }

    func add(_ sentence: String) { sentences.withLock { $0.append(sentence) } }
}

/// Waits until something holds that other tasks bring about; fails after half a minute.
func eventually(_ what: Comment, _ holds: () async throws -> Bool) async throws {
    for _ in 0..<30_000 {
        if try await holds() { return }
        try await Task.sleep(for: .milliseconds(1))
    }
    Issue.record("it never came: \(what)")
}

/// The error that something throws, which has to be one of the client's.
func clientError(_ body: () async throws -> Void) async -> AppCheckError? {
    do {
        try await body()
    } catch let error as AppCheckError {
        return error
    } catch {
        Issue.record("\(error) is no AppCheckError")
        return nil
    }
    Issue.record("nothing was thrown")
    return nil
}
