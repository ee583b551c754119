internal import AssayCore
internal import AssayEngine
internal import AssayHTTP
internal import AssayHTTPServer
internal import AssayKit
internal import Logging
internal import ServiceLifecycle

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

    /// - Parameter onListening: called once for each when it listens.
    func services(onListening: @escaping @Sendable () async -> Void) throws -> [any Service] {
        let all: [(any Service)?] = [
            try operations(onListening), try authorization(onListening), try methods(onListening),
        ]
        return all.compactMap(\.self)
    }

    private func methods(_ onListening: @escaping @Sendable () async -> Void) throws -> HTTPService {
        var http = configuration.http
        http.certificate = certificates.methods
        http.records = configuration.records
        let publicPages = if case .public? = configuration.operations { pages } else { pages.withoutDetail }
        let scheme = http.certificate == nil ? "http" : "https"
        return try HTTPService(
            handler: engine, pages: publicPages, configuration: http, logger: configuration.logger, meter: meter
        ) { [announce = configuration.onListening] address in
            announce(address.port == nil ? "\(address)" : "\(scheme)://\(address)")
            await onListening()
        }
    }

    /// The pages for operators at an address of their own; nil for none.
    ///
    /// Their budget is their own: operators are to see that the other one is full.
    private func operations(_ onListening: @escaping @Sendable () async -> Void) throws -> HTTPService? {
        guard case .own(let address, let hosts)? = configuration.operations else { return nil }
        var pages = pages
        pages.hosts = PageHosts(hosts)
        var http = HTTPConfiguration(address: address, origins: .none, budget: TransportBudget(bytes: 16_777_216))
        http.limits.maximumConnections = 64
        let logger = configuration.logger
        return try HTTPService(
            handler: PagesOnly(engine), pages: pages, configuration: http, logger: logger
        ) { address in
            logger.info("listening for operators", metadata: ["address": "http://\(address)"])
            await onListening()
        }
    }

    private func authorization(_ onListening: @escaping @Sendable () async -> Void) throws -> (any Service)? {
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
            logger.info("listening for ext_authz", metadata: ["address": "\(address)"])
            await onListening()
        }
        #else
        return nil
        #endif
    }
}
