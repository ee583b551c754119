internal import AssayCore
internal import AssayEngine
internal import AssayHTTP
internal import AssayHTTPServer
internal import AssayKit
internal import Logging
internal import ServiceLifecycle
internal import Synchronization

#if ExtAuthz
internal import AssayExtAuthz
#endif

/// The listeners of a server.
struct ServerListeners {
    private let configuration: ServerConfiguration
    private let engine: Engine
    private let certificates: ServerCertificates
    private let pages: HTTPPages
    private let meter: Meter

    init(
        _ configuration: ServerConfiguration, _ engine: Engine, _ certificates: ServerCertificates, _ pages: HTTPPages,
        _ meter: Meter
    ) {
        self.configuration = configuration
        self.engine = engine
        self.certificates = certificates
        self.pages = pages
        self.meter = meter
    }

    /// How many there are.
    var count: Int {
        let ofOperations = if case .own? = configuration.operations { 1 } else { 0 }
        return 1 + ofOperations + (configuration.authorization == nil ? 0 : 1)
    }

    /// - Parameters:
    ///   - onStart: called when all of them listen.
    ///   - onListening: called after that, once for each.
    func services(
        onStart: @escaping @Sendable () -> Void, onListening: @escaping @Sendable () async -> Void
    ) throws -> [any Service] {
        let start = ListenersStart(count: count, onStart: onStart, onListening: onListening)
        let all: [(any Service)?] = [
            try operations(start).map { NamedListener("--operations", $0) },
            try authorization(start).map { NamedListener("--ext-authz-listen", $0) },
            NamedListener("--listen", try methods(start)),
        ]
        return all.compactMap(\.self)
    }

    private func methods(_ start: ListenersStart) throws -> HTTPService {
        var http = configuration.http
        http.certificate = certificates.methods
        http.records = configuration.records
        let publicPages = if case .public? = configuration.operations { pages } else { pages.withoutDetail }
        let scheme = http.certificate == nil ? "http" : "https"
        return try HTTPService(
            handler: engine, pages: publicPages, configuration: http, logger: configuration.logger, meter: meter
        ) { [announce = configuration.onListening] address in
            await start.listens { announce(address.port == nil ? "\(address)" : "\(scheme)://\(address)") }
        }
    }

    /// The pages for operators at an address of their own; nil for none.
    ///
    /// Their budget is their own: operators are to see that the other one is full.
    private func operations(_ start: ListenersStart) throws -> HTTPService? {
        guard case .own(let address, let hosts)? = configuration.operations else { return nil }
        var pages = pages
        pages.hosts = PageHosts(hosts)
        var http = HTTPConfiguration(address: address, origins: .none, budget: TransportBudget(bytes: 16_777_216))
        http.limits.maximumConnections = 64
        let logger = configuration.logger
        return try HTTPService(
            handler: PagesOnly(engine), pages: pages, configuration: http, logger: logger
        ) { address in
            await start.listens { logger.info("listening for operators", metadata: ["address": "http://\(address)"]) }
        }
    }

    private func authorization(_ start: ListenersStart) throws -> (any Service)? {
        #if ExtAuthz
        guard let listener = configuration.authorization else { return nil }
        var limits = ExtAuthzLimits()
        limits.maximumConnections = listener.maximumConnections
        limits.connectionsPerPeer = listener.maximumConnections / 4
        var authorization = ExtAuthzConfiguration(
            address: listener.address, certificate: certificates.authorization, forwardsToken: listener.forwardsToken,
            limits: limits, budget: configuration.http.budget)
        authorization.records = configuration.records
        let logger = configuration.logger
        return try ExtAuthzService(
            handler: engine, configuration: authorization, logger: logger, meter: meter
        ) { address in
            await start.listens { logger.info("listening for ext_authz", metadata: ["address": "\(address)"]) }
        }
        #else
        return nil
        #endif
    }
}

/// Announces the listeners when the last of them listens: until then, an address that is in use may end the server.
private final class ListenersStart: Sendable {
    private let count: Int
    private let onStart: @Sendable () -> Void
    private let onListening: @Sendable () async -> Void
    private let announcements = Mutex<[@Sendable () -> Void]>([])

    /// - Parameter onListening: called once for each listener.
    init(
        count: Int, onStart: @escaping @Sendable () -> Void, onListening: @escaping @Sendable () async -> Void
    ) {
        self.count = count
        self.onStart = onStart
        self.onListening = onListening
    }

    /// - Parameter announce: says which address it is.
    func listens(_ announce: @escaping @Sendable () -> Void) async {
        let all = announcements.withLock { announcements -> [@Sendable () -> Void] in
            announcements.append(announce)
            return announcements.count == count ? announcements : []
        }
        if !all.isEmpty { onStart() }
        for announce in all {
            announce()
            await onListening()
        }
    }
}

/// A listener whose errors name the option of `assay serve` that sets its address.
private struct NamedListener: Service {
    private let option: String
    private let listener: any Service

    init(_ option: String, _ listener: any Service) {
        self.option = option
        self.listener = listener
    }

    func run() async throws {
        do {
            try await listener.run()
        } catch let error as ListenerError {
            throw error.of(option)
        }
    }
}
