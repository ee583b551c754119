public import AssayCore
public import AssayEngine
public import AssayHTTPServer
public import AssayKit
public import AssayServices
public import Logging
public import ServiceLifecycle
public import UnixSignals

/// What ``Server`` serves, and how: all that the options of `assay serve` say.
///
/// Each property has the default of its option. Nothing is read or opened before ``Server/run()``.
public struct ServerConfiguration: Sendable {
    /// The program's name, in messages and log lines.
    public var name = "assay"
    /// The program's version, in the record of its start.
    public var version = AssayVersion.text
    /// The providers, consumers, stores, vaults and sinks that policies and this configuration can name.
    public var plugins: [Plugin]
    /// The methods that the program knows and does not offer: a call gets 501 and not 404.
    public var unoffered: [MethodDescriptor] = .appCheck
    /// Where the policies are.
    public var policies = PolicyOrigin.folder("policies")
    /// How often it looks for changed policies, keys and certificates; nil to look only when it is asked, by SIGHUP.
    public var watchInterval: Duration? = .seconds(1)
    /// Whether policies with settings for development are refused.
    public var refusesDevelopment = false
    /// The state store, as `SCHEME:LOCATION`.
    public var state = "sqlite:assay.sqlite"
    /// The folder of the keys, or a key vault as `SCHEME:LOCATION`; nil for a folder beside the state.
    public var keys: String?
    /// Whether the first keys are made where servers share the keys or the state; with keys there, it does not start.
    public var makesFirstKeys = false
    /// Keys that the state was used with and that are lost for ever, by their identifiers.
    public var forgottenKeys: [String] = []
    /// The listener for the methods; its certificate comes from ``tls``.
    public var http = HTTPConfiguration()
    /// The certificate of the listeners; nil for HTTP without TLS.
    public var tls: CertificateFiles?
    /// Where the pages for operators are; nil for nowhere.
    public var operations: OperationsPages?
    /// The listener for Envoy's `ext_authz` over gRPC; nil for none.
    public var authorization: AuthorizationListener?
    /// The files that receive decisions.
    public var audit = AuditFiles()
    /// The other servers that receive decisions.
    public var sinks = RecordSinks()
    /// Where evidence is captured; nil for nowhere.
    public var capture: CaptureFolder?
    /// How many requests of strangers are logged and audited one by one.
    public var records = RecordLimits()
    /// Whether the page of metrics shows what libraries record through swift-metrics: it then takes the one backend of the process.
    public var showsLibraryMetrics = true
    /// The signals that end the server, each after the requests that have begun.
    ///
    /// It takes them, and SIGHUP (reload), SIGUSR1 (open audit files again) and SIGUSR2 (nothing), from the process; with none it takes no
    /// signal at all, for a program that has its own.
    public var terminationSignals: [UnixSignal] = [.sigterm, .sigint]
    /// The log.
    public var logger: Logger
    /// Is told the URL of the methods when they are served.
    public var onListening: @Sendable (_ url: String) -> Void = { _ in }
    /// Changes the services before they begin.
    public var arrange: @Sendable (inout ServerServices) throws -> Void = { _ in }

    /// Makes a configuration with the defaults of `assay serve`.
    public init(plugins: [Plugin], logger: Logger) {
        self.plugins = plugins
        self.logger = logger
    }
}

/// Where a server has its policies from.
@nonexhaustive public enum PolicyOrigin: Sendable {
    /// A folder of files.
    case folder(String)
    /// A signed bundle at a URL.
    case bundle(PolicyBundleOrigin)
}

/// A signed bundle of policies at a URL.
public struct PolicyBundleOrigin: Sendable {
    /// Its URL; `http` for this machine only.
    public var url: String
    /// Files with public keys in PEM, one of which verifies it.
    public var keyFiles: [String]
    /// The folder that keeps the last bundle in force; nil for one beside the state.
    public var folder: String?
    /// How often it is asked for, on average.
    public var interval = Duration.seconds(20)
    /// A file with further authorities in PEM for the URL's server; nil for those of the system alone.
    public var authorityFile: String?
    /// The folder with the server's `plugins.yaml`, which a bundle cannot have; nil for none.
    public var pluginFolder: String?

    /// Makes the description of a bundle.
    public init(url: String, keyFiles: [String]) {
        self.url = url
        self.keyFiles = keyFiles
    }
}

/// The files of a certificate, which are read again when they change.
public struct CertificateFiles: Sendable {
    /// The certificate, followed by those of intermediate authorities, in PEM.
    public var certificate: String
    /// Its private key in PEM.
    public var key: String

    /// Names the files.
    public init(certificate: String, key: String) {
        self.certificate = certificate
        self.key = key
    }
}

/// Where the pages for operators are: metrics, and reasons in `/readyz`.
@nonexhaustive public enum OperationsPages: Sendable {
    /// At an address of their own, for requests to an address, `localhost`, or one of some names of hosts.
    case own(ListenerAddress, hosts: [String] = [])
    /// With the methods, where strangers can read them.
    case `public`
}

/// The listener for Envoy's `ext_authz` over gRPC.
///
/// A program without the package trait `ExtAuthz` does not start with one.
public struct AuthorizationListener: Sendable {
    /// Where it listens.
    public var address: ListenerAddress
    /// Whether it serves over TLS, with the certificate of ``ServerConfiguration/tls``.
    public var usesTLS = false
    /// A file with the authorities in PEM that clients must have a certificate of; nil for all clients.
    public var clientAuthorityFile: String?
    /// Whether the header `X-Firebase-AppCheck` stays in allowed requests.
    public var forwardsToken = false
    /// The most connections at once; one peer address may have a quarter of them.
    public var maximumConnections = 256

    /// Makes a listener with the defaults of `assay serve`.
    public init(address: ListenerAddress) {
        self.address = address
    }
}

/// The files that receive one JSON line for each decision.
public struct AuditFiles: Sendable {
    /// Their paths; `-` is standard output.
    public var paths: [String] = []
    /// Whether nothing is decided while one of them cannot be written.
    public var isRequired = false
    /// When they are rotated.
    public var rotation = AuditRotation()

    /// No files.
    public init() {}

    /// Whether standard output is for audit records.
    public var useStandardOutput: Bool { paths.contains { $0.isExactly("-") } }
}

/// The other servers that receive decisions.
public struct RecordSinks: Sendable {
    /// Each as `SCHEME:LOCATION`, of a sink among the plugins.
    public var names: [String] = []
    /// Whether nothing is decided while one of them cannot take records.
    public var isRequired = false

    /// No sinks.
    public init() {}
}

/// The folder that receives the evidence which policies ask for, encrypted.
public struct CaptureFolder: Sendable {
    /// Its path; its mode must be 0700.
    public var path: String
    /// How many pieces of evidence a second are captured at most.
    public var perSecond = EvidenceFolder.Options().perSecond

    /// Names the folder.
    public init(path: String) {
        self.path = path
    }
}

/// The services of a server in the order in which they begin; they end in the reverse order.
public struct ServerServices: Sendable {
    /// What a service of a server is for.
    @nonexhaustive public enum Name: String, Sendable, CaseIterable {
        /// The work of the state store.
        case store
        /// Calls to other servers.
        case outboundHTTP
        /// Calls for policies at a URL.
        case policyHTTP
        /// The audit files, and look-ups in them.
        case audit
        /// Captured evidence.
        case capture
        /// The queues of sinks.
        case sinks
        /// Sums of records of strangers' requests.
        case records
        /// Gives memory back to the system.
        case heap
        /// Warns of certificates that end.
        case certificates
        /// Logs when the readiness changes.
        case readiness
        /// Changes of keys in a vault.
        case keys
        /// Changes that other servers make in the state.
        case refresh
        /// The maintenance of plugins.
        case maintenance
        /// Looks for changed policies, keys and certificates.
        case reload
        /// The signals for reloads.
        case signals
        /// Asks for the bundle of policies.
        case policyBundle
        /// All listeners: they end at the same time.
        case listeners
        /// Tells systemd.
        case systemd
    }

    /// The engine that the listeners ask.
    public let engine: Engine
    /// What services count with.
    public let meter: Meter
    private(set) var all: [(name: Name?, service: any Service)]

    init(engine: Engine, meter: Meter, _ services: [(Name, (any Service)?)]) {
        self.engine = engine
        self.meter = meter
        all = services.compactMap { name, service in service.map { (name, $0) } }
    }

    /// The service of a name; nil where the configuration asks for none.
    ///
    /// Another one takes its place, and nil removes it. The first to end ends the server.
    public subscript(name: Name) -> (any Service)? {
        get { all.first { $0.name == name }?.service }
        set {
            guard let index = all.firstIndex(where: { $0.name == name }) else {
                if let newValue { add(newValue) }
                return
            }
            if let newValue { all[index].service = newValue } else { all.remove(at: index) }
        }
    }

    /// Adds a service that begins before the listeners, and so ends after them.
    public mutating func add(_ service: any Service) {
        let index = all.firstIndex { $0.name == .listeners } ?? all.endIndex
        all.insert((nil, service), at: index)
    }
}
