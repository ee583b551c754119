internal import ArgumentParser
internal import AssayCore
internal import AssayHTTPServer
internal import AssayServer
internal import Logging

/// `assay serve`.
struct ServeCommand: AsyncParsableCommand {
    static var configuration: CommandConfiguration {
        let program = AssayProgram.current.name
        return CommandConfiguration(
            commandName: "serve", abstract: "Serve App Check over HTTP.",
            discussion: """
                Without a certificate it speaks HTTP/1.1, and over TLS HTTP/2, too, with clients that ask for it in the \
                handshake.

                Prints one line when it listens, and with --audit - audit records instead; everything else goes to standard \
                error. On SIGTERM and SIGINT it finishes the requests that have begun, and ends. SIGHUP reads everything \
                again that it has from files, and opens the audit files again under their names; SIGUSR1 only does the latter; \
                SIGUSR2 does nothing.

                Changed policies are loaded while it serves, as a whole or not at all: when their files have changed and \
                are not written any more, and on SIGHUP at once. With a URL as --policies, they come as a bundle that is signed with a key of \
                --bundle-key, see `\(program) policy bundle --help`: it is asked for at intervals and on SIGHUP, and the last one in \
                force is kept for a start without the URL. Policies that are wrong are refused with each problem in the log; those in \
                force stay, and /readyz at --operations says "degraded" and why, with status 200, until the files are good again.

                The state remembers which keys it was used with: it does not start when one of them is missing, for then artifacts \
                could not be opened any more. See `\(program) state --help` for backups.

                With --production, policies are wrong that have anything for development: the provider `debug`, trust anchors \
                of simulated authorities, Apple's development environments, `accept_development: true`, and URLs of this \
                machine where another server is meant. It does not start with them, and does not take them up later; the file \
                and the line of each is said, and what to do.
                """)
    }

    @Option(
        help: ArgumentHelp(
            "The folder of policy files, or the URL of a signed bundle of them.", valueName: "folder|url"),
        completion: .directory)
    var policies = "policies"

    @OptionGroup
    var bundle: BundleOptions

    @Option(
        help: ArgumentHelp(
            "The state store: sqlite:PATH; postgres://… or redis://… for several servers; or memory, which loses used challenges "
                + "and counters at the end."))
    var state = AssayProgram.current.state

    @Option(
        help:
            "The address of the server: HOST:PORT, where port 0 means a free one; a Unix socket; or a socket that systemd passes, "
            + "by its name if there are several.", valueName: "host:port|unix:path|systemd:name",
        reading: .socketAddress)
    var listen = SocketAddress.host(ListenAddress(host: "127.0.0.1", port: 8080))

    @Option(
        help:
            "The permissions of the Unix socket of --listen; by default only the user that the server runs as may connect.",
        valueName: "octal", reading: .socketMode)
    var socketMode: SocketMode?

    @Option(
        help: ArgumentHelp(
            "The folder of the keys, or a key vault as SCHEME:LOCATION; state:MASTERKEY keeps them in "
                + "the state store for several servers, see `keys wrap --help`. By default a folder next to the state's file, or "
                + "~/.local/state/assay/keys when the state is in memory.", valueName: "folder"),
        completion: .directory)
    var keys: String?

    @Flag(
        help: ArgumentHelp(
            "Make the first keys, where servers share the keys or the state and have none yet. For the first start of one server only: "
                + "it does not start when there are keys."))
    var newKeys = false

    @Option(
        help: ArgumentHelp(
            "Continue without a key that the state was used with and that is lost permanently; may be given several times. "
                + "Devices that were attested under a lost sealing key are refused forever.", valueName: "kid"))
    var forgetKey: [String] = []

    @Flag(help: "Refuse policies with settings for development, such as the provider debug.")
    var production = false

    @Flag(
        help: "Allow core dumps and tracing by the same user's processes. A dump contains private keys and tokens.")
    var coreDumps = false

    @OptionGroup
    var reload: ReloadOptions

    @OptionGroup
    var tls: TLSOptions

    @OptionGroup
    var browsers: BrowserOptions

    @OptionGroup
    var limits: LimitOptions

    @OptionGroup
    var proxies: ProxyOptions

    @OptionGroup
    var extAuthz: ExtAuthzOptions

    @OptionGroup
    var operations: OperationsOptions

    @OptionGroup
    var audit: AuditOptions

    @OptionGroup
    var sinks: SinkOptions

    @OptionGroup
    var records: RecordOptions

    @OptionGroup
    var capture: CaptureOptions

    @OptionGroup
    var log: LogOptions

    /// The options that look as if they could be repeated, and were: the last one counts, as of all options.
    private static var repeated: [String] {
        let given = CommandLine.arguments.prefix { !$0.isExactly("--") }
        return ["--listen", "--ext-authz-listen"].filter { option in
            given.count { $0.isExactly(option) || $0.starts(withExactly: option + "=") } > 1
        }
    }

    func validate() throws {
        if socketMode != nil, !listen.isUnixSocket {
            throw ValidationError("--socket-mode needs a Unix socket in --listen")
        }
        try extAuthz.validate(with: tls)
        try checkAddresses()
        try bundle.validate(with: policies, production: production)
    }

    /// Two listeners at one address would fail one after the other with an error of the system.
    private func checkAddresses() throws {
        var listeners = [("--listen", listen)]
        if case .own(let address) = operations.operations { listeners.append(("--operations", .host(address))) }
        if let address = extAuthz.extAuthzListen { listeners.append(("--ext-authz-listen", address)) }
        for (index, (option, address)) in listeners.enumerated() {
            for (earlier, other) in listeners[..<index] where address.collides(with: other) {
                let remedy =
                    option.isExactly("--operations")
                    ? "; --operations public shows its pages at the address of --listen" : ""
                throw ValidationError(
                    "\(earlier) and \(option) have the same address, \(address.address(mode: nil)): each listener needs one of its own\(remedy)"
                )
            }
        }
    }

    func run() async throws {
        let logger = log.bootstrap()
        if coreDumps { CoreDumps.allow() }
        do {
            try await Server(configuration(logger)).run()
        } catch let error where !(error is ExitCode) {
            log.note(error, logger)
            throw ExitCode.couldNotRun
        }
    }

    /// What the options say.
    private func configuration(_ logger: Logger) -> ServerConfiguration {
        let program = AssayProgram.current
        for option in Self.repeated {
            logger.warning(
                "an option is given more than once: only the last one counts", metadata: ["option": "\(option)"])
        }
        var configuration = ServerConfiguration(plugins: program.plugins, logger: logger)
        configuration.name = program.name
        configuration.version = program.version
        configuration.unoffered = program.unoffered
        configuration.policies = bundle.origin(of: policies)
        configuration.watchInterval = reload.watch.duration
        configuration.refusesDevelopment = production
        configuration.state = state
        configuration.keys = keys
        configuration.makesFirstKeys = newKeys
        configuration.forgottenKeys = forgetKey
        configuration.http = HTTPConfiguration(
            address: listen.address(mode: socketMode), limits: limits.limits, origins: browsers.origins,
            budget: limits.budget, trustedProxies: proxies.proxies)
        configuration.tls = tls.files
        configuration.operations = operations.pages
        configuration.authorization = extAuthz.listener
        configuration.audit = audit.files
        configuration.sinks = sinks.sinks
        configuration.capture = capture.folder
        configuration.records = records.limits
        configuration.onListening = { [log, usesOutput = audit.files.useStandardOutput] url in
            log.announce(url: url, aside: usesOutput, logger)
        }
        return configuration
    }
}
