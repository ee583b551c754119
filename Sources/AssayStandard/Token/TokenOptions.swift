internal import ArgumentParser
internal import AssayClient
internal import AssayClientHTTP
internal import AssayCommand
internal import AssayCore
internal import AssayCrypto
internal import Synchronization

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// How a command proves that it is an app.
enum TokenProvider: String, ExpressibleByArgument, CaseIterable {
    case debug, simulated, custom
    case simulatedAndroid = "simulated-android"

    var isSimulated: Bool { self == .simulated || self == .simulatedAndroid }
}

/// Which app gets a token of which server, and how it proves itself.
struct TokenOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The server: https://host, or http:// for this machine alone.", valueName: "url"))
    var endpoint = "http://127.0.0.1:8080"

    @OptionGroup var authorities: AuthorityOptions

    @Option(
        help: ArgumentHelp(
            "The app: projects/PROJECT/apps/APP_ID, or oauthClients/CLIENT_ID.", valueName: "resource"))
    var app: String

    @Option(
        help: """
            What proves the app: a debug token (of AppCheckDebugToken in the environment, or one that is made, kept, \
            and printed on standard error when it is made and when it is refused), a simulated device with App Attest or with Android, or a custom token.
            """)
    var provider: TokenProvider

    @Option(
        help: ArgumentHelp(
            "Where the custom token is stored, a JWT of your backend; - for standard input. (default: -)",
            valueName: "file"), completion: .file())
    var customToken: String?

    @OptionGroup var device: SimulatedDeviceOptions

    @Option(help: ArgumentHelp("How long to wait for each answer, 1 to 300.", valueName: "seconds"))
    var timeout = 30

    @Option(
        help: ArgumentHelp(
            "How long to wait for the token in all, with every request that it takes, 1 to 3600.", valueName: "seconds")
    )
    var deadline = 120

    /// What makes the keys of OAuth clients.
    static var keys: any InstanceKeys { OpenSSLKeys() }

    /// Whether the provider reads its token from there.
    var readsStandardInput: Bool { provider == .custom && TokenInput.isStandardInput(customToken ?? "-") }

    func validate() throws {
        guard (1...300).contains(timeout) else { throw ValidationError("--timeout is a number from 1 to 300") }
        guard (1...3600).contains(deadline) else { throw ValidationError("--deadline is a number from 1 to 3600") }
        try device.validate(for: provider)
        guard provider == .custom || customToken == nil else {
            throw ValidationError("--custom-token goes with --provider custom")
        }
    }

    /// An app, and what it reaches the server by.
    struct App: Sendable {
        let appCheck: AppCheck
        let options: AppCheckOptions
    }

    /// Gets a token and prints it; a failure is reported, and ends the command.
    func print(_ token: (App) async throws -> String) async throws {
        let text: String
        do {
            text = try await with(token)
        } catch let error as AppCheckError {
            throw Self.report(error)
        } catch let error where !(error is ExitCode || error is OutputError) {
            Terminal.report(error)
            throw ExitCode.couldNotRun
        }
        try Terminal.say(text)
    }

    private func with(_ body: (App) async throws -> String) async throws -> String {
        let http = try HTTPClientTransport(
            additionalTrustRoots: authorities.roots(), authorityOption: AuthorityOptions.option)
        let clock = SystemClientClock()
        let transport = WaitingTransport(http: http, clock: clock, limit: .seconds(Int64(deadline)))
        let stored = NotingStorage(storage())
        var options = AppCheckOptions(transport: transport, storage: stored)
        options.requestLimit = .seconds(Int64(timeout))
        // The transport is the first to say that the time is over, since it knows what was waited for.
        options.fetchLimit = .seconds(Int64(deadline) + 1)
        let debugToken = Mutex<String?>(nil)
        options.notice = { [provider] notice in
            // The keys of a simulated device end with the program.
            if provider.isSimulated, notice.starts(withExactly: "A new App Attest key") { return }
            // A debug token that was made before is registered, unless the server says otherwise.
            if provider == .debug, notice.starts(withExactly: "App Check debug token"), !stored.hasSaved {
                return debugToken.withLock { $0 = notice }
            }
            Terminal.report(notice)
        }
        let result: Result<String, any Error>
        do {
            let appCheck = try AppCheck(app: app, endpoint: endpoint, provider: evidence(), options: options)
            result = .success(try await body(App(appCheck: appCheck, options: options)))
        } catch {
            if (error as? AppCheckError)?.code == .refused { debugToken.withLock { $0 }.map { Terminal.report($0) } }
            result = .failure(error)
        }
        await http.shutDown()
        return try result.get()
    }

    private func evidence() throws -> any AppCheckProvider {
        switch provider {
        case .debug: return DebugProvider()
        case .simulated, .simulatedAndroid: return try device.provider(isAndroid: provider == .simulatedAndroid)
        case .custom:
            let input = TokenInput(customToken ?? "-", name: "the custom token")
            return CustomProvider { request in
                try await request.service.exchange(
                    "exchangeCustomToken", ["custom_token": .text(try input.token())],
                    isLimitedUse: request.isLimitedUse)
            }
        }
    }

    /// Files of the user, in a folder for each provider: a token of one is not taken for that of another.
    private func storage() -> any ClientStorage {
        let variables = ProcessInfo.processInfo.environment
        func folder(_ name: String) -> String? { variables[name].flatMap { $0.starts(withExactly: "/") ? $0 : nil } }
        guard let state = folder("XDG_STATE_HOME") ?? folder("HOME").map({ "\($0)/.local/state" }) else {
            return MemoryStorage()
        }
        let folder = "\(state)/assay-client/\(provider.rawValue)\(evidenceName(variables["AppCheckDebugToken"]))"
        let files = FileStorage(folder: folder)
        return provider.isSimulated ? OwnFirstStorage(files) : files
    }

    /// What the command is given to prove the app by, as a part of a name: a token is cached for it alone.
    private func evidenceName(_ debugToken: String?) -> String {
        let given =
            switch provider {
            case .debug: debugToken
            case .simulated, .simulatedAndroid: device.name
            case .custom: customToken
            }
        return given.map { "-" + Hex.encode(SHA256.hash(Array($0.utf8)).prefix(8)) } ?? ""
    }

    /// Says what happened and what to do.
    private static func report(_ error: AppCheckError) -> ExitCode {
        var words = "\(error.code): \(error.message)"
        if let status = error.status { words += " Status \(status)." }
        if let cause = error.cause { words += " Cause: \(cause)" }
        Terminal.report(words)
        if let decision = error.decision {
            Terminal.report(
                "decision \(decision): where the server has its audit file, "
                    + "`\(AssayProgram.current.name) decisions show \(decision)` says why")
        }
        return [.refused, .rejected].contains(error.code) ? .refused : .couldNotRun
    }
}

/// Prefers what this process has saved: the keys of a simulated device are of no use to another process.
final class OwnFirstStorage: ClientStorage {
    private let own = MemoryStorage()
    private let shared: any ClientStorage

    init(_ shared: any ClientStorage) {
        self.shared = shared
    }

    func load(_ key: StorageKey) throws -> [UInt8]? { try own.load(key) ?? shared.load(key) }

    func save(_ value: [UInt8], as key: StorageKey) throws {
        own.save(value, as: key)
        try shared.save(value, as: key)
    }

    func remove(_ key: StorageKey) throws {
        own.remove(key)
        try shared.remove(key)
    }
}

/// Knows whether this process has saved something.
final class NotingStorage: ClientStorage {
    private let storage: any ClientStorage
    private let saved = Mutex(false)

    init(_ storage: any ClientStorage) {
        self.storage = storage
    }

    var hasSaved: Bool { saved.withLock { $0 } }

    func load(_ key: StorageKey) throws -> [UInt8]? { try storage.load(key) }

    func save(_ value: [UInt8], as key: StorageKey) throws {
        saved.withLock { $0 = true }
        try storage.save(value, as: key)
    }

    func remove(_ key: StorageKey) throws { try storage.remove(key) }
}

/// Says what is waited for, when an answer takes more than a second, and ends the wait when the time of the command is over.
struct WaitingTransport: ClientTransport {
    private let http: HTTPClientTransport
    private let clock: SystemClientClock
    private let limit: Interval
    private let end: Moment

    init(http: HTTPClientTransport, clock: SystemClientClock, limit: Interval) {
        (self.http, self.clock, self.limit) = (http, clock, limit)
        end = clock.now + limit
    }

    func send(_ request: ClientRequest) async throws -> ClientResponse {
        let url = String(decoding: request.url.utf8.prefix { $0 != UInt8(ascii: "?") }, as: UTF8.self)
        var request = request
        let left = end - clock.now
        guard left > .zero else { throw late(url) }
        request.timeLimit = min(request.timeLimit, left)
        let notice = Task { [limit = request.timeLimit] in
            guard (try? await Task.sleep(for: .seconds(1))) != nil else { return }
            Terminal.report("waiting for an answer of \(url), \(limit) at most")
        }
        defer { notice.cancel() }
        do {
            return try await http.send(request)
        } catch {
            throw clock.now < end ? error : late(url)
        }
    }

    private func late(_ url: String) -> AppCheckError {
        AppCheckError(
            .timedOut, "No token came within \(limit), which --deadline sets: \(url) had not answered.")
    }
}
