#if Simulator
internal import ArgumentParser
internal import AssayCommand
internal import AssayCore
internal import AssayTesting
internal import NIOCore
internal import NIOSSL

/// A duration such as `30s`, `5m` or `500ms`.
struct LoadDuration: ExpressibleByArgument, Sendable {
    let duration: Duration
    let defaultValueDescription: String

    init(_ seconds: Int) {
        duration = .seconds(seconds)
        defaultValueDescription = "\(seconds)s"
    }

    init?(argument: String) {
        let units: [(name: String, milliseconds: Int)] = [("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000)]
        let digits = argument.utf8.prefix { $0.isASCIIDigit }
        guard let number = Int(Substring(digits)), (0...1_000_000).contains(number) else { return nil }
        let rest = String(argument.dropFirst(digits.count))
        guard let unit = units.first(where: { $0.name.isExactly(rest) }) else { return nil }
        duration = .milliseconds(number * unit.milliseconds)
        defaultValueDescription = argument
    }
}

/// Where a load goes, and who makes it.
struct LoadTargetOptions: ParsableArguments {
    @Option(help: "The server, such as http://127.0.0.1:8080 or https://assay.example.com.")
    var url = "http://127.0.0.1:8080"

    @OptionGroup
    var authorities: AuthorityOptions

    @Option(
        help: "The folder that `load policy` wrote: the authority of the devices, and the caller's token.",
        completion: .directory)
    var folder = "load"

    @Option(help: "The project, for verifyAppCheckToken.")
    var project = LoadFolder.project

    @Option(help: "Which devices attest keys: those of Apple, or with Android.")
    var platform = LoadPlatform.apple

    @Option(help: "The app of the devices; that of the folder's policy when left out.")
    var app: String?

    @Option(help: "The app as App Attest names it.")
    var bundle = LoadFolder.bundle

    @Option(help: "The app's package on Android.")
    var package = LoadFolder.package

    @Option(help: "The backend of /verify/BACKEND.")
    var backend = LoadFolder.backend

    /// What makes the evidence.
    ///
    /// - Throws: `SecretError` for a folder without an authority.
    func devices(of folder: LoadFolder) throws -> LoadDevices {
        switch platform {
        case .apple: .apple(try folder.authority.authority(), bundle: bundle)
        case .android: .android(try folder.authority.androidAuthority(), package: package)
        }
    }

    /// The server's address.
    ///
    /// - Throws: a ``LoadFailure``.
    func target() throws -> LoadTarget {
        // Plain HTTP is for any host here: a load is made from another machine.
        let isPlain = url.starts(withExactly: "http://")
        let secure = isPlain ? "https://" + url.dropFirst(7) : url
        guard let parsed = EndpointURL(secure), parsed.query.isNil else {
            throw LoadFailure("'\(url)' is no URL of a server")
        }
        let authority = secure.utf8.dropFirst(8).prefix { $0 != UInt8(ascii: "/") }
        let digits = authority.reversed().prefix(while: \.isASCIIDigit).count
        let hasPort = digits > 0 && authority.dropLast(digits).last == UInt8(ascii: ":")
        return LoadTarget(
            host: parsed.host, port: isPlain && !hasPort ? 80 : parsed.port,
            authority: String(decoding: authority, as: UTF8.self),
            path: parsed.path.isExactly("/") ? "" : parsed.path, tls: isPlain ? nil : try context(),
            tlsWords: try authorities.explainer(of: parsed.host))
    }

    private func context() throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        let roots = try authorities.roots().map { try NIOSSLCertificate(bytes: $0, format: .der) }
        if !roots.isEmpty { configuration.additionalTrustRoots = [.certificates(roots)] }
        return try NIOSSLContext(configuration: configuration)
    }
}

/// How much is called, how often and for how long.
struct LoadPaceOptions: ParsableArguments {
    @Option(help: "How many simulated devices.")
    var devices = 200

    @Option(
        help: ArgumentHelp(
            "What is called in which proportion: \(LoadMethod.names).", valueName: "method=weight,…"),
        transform: { text in
            do throws(LoadFailure) { return try LoadMix(text) } catch { throw ValidationError(error.description) }
        })
    var mix = LoadMix([(.challenge, 1), (.attest, 1), (.assert, 20), (.verify, 50), (.consume, 5), (.proxy, 10)])

    @Option(help: "Open loop: so many calls a second, however slowly the server answers.")
    var rate: Double?

    @Option(help: "Closed loop: so many calls at once, each after a former one was answered.")
    var concurrency: Int?

    @Option(help: "How long is measured.")
    var duration = LoadDuration(30)

    @Option(help: "How long the load runs before it is measured.")
    var warmUp = LoadDuration(2)

    @Option(help: "How long an answer is waited for.")
    var timeout = LoadDuration(10)

    @Option(help: "The most connections; by default as many as --concurrency, or 64.")
    var connections: Int?

    @Option(help: "For how many calls of the mix requests are prepared; by default for the rate, or for 5000 a second.")
    var prepare: Int?

    @Option(help: "Which share of 'consume' presents a used token, which must be refused: 0 to 1.")
    var replays = 0.0

    func validate() throws {
        guard (rate == nil) != (concurrency == nil) else {
            throw ValidationError("give either --rate or --concurrency")
        }
        try Self.check("--rate", rate, 0.1...1_000_000)
        try Self.check("--concurrency", concurrency, 1...50_000)
        try Self.check("--connections", connections, 1...50_000)
        try Self.check("--devices", devices, 1...1_000_000)
        try Self.check("--prepare", prepare, 1...5_000_000)
        try Self.check("--replays", replays, 0...1)
        try Self.check("--duration", duration.duration, .milliseconds(100)...(.seconds(86_400)))
        try Self.check("--timeout", timeout.duration, .milliseconds(1)...(.seconds(600)))
        guard mix.share(of: .assert) == 0 || devices >= mostConnections else {
            throw ValidationError(
                "assertions of one device are sent one at a time: give at least as many --devices as connections")
        }
    }

    /// The most connections.
    var mostConnections: Int { connections ?? concurrency ?? 64 }

    /// How calls are paced.
    var pace: LoadPacer.Pace { rate.map(LoadPacer.Pace.rate) ?? .concurrency(concurrency ?? 1) }

    /// The pace in words.
    var paceText: String {
        rate.map { "\(LoadText.fixed($0, 1)) a second over" } ?? "\(concurrency ?? 1) at once over"
    }

    /// How much is prepared.
    var amounts: LoadPreparation.Amounts {
        let seconds = (duration.duration + warmUp.duration) / .seconds(1)
        let calls = prepare.map(Double.init) ?? min(1_000_000, seconds * (rate ?? 5000) + 100)
        func amount(_ method: LoadMethod) -> Int {
            let share = mix.share(of: method)
            return share == 0 ? 0 : Int((calls * share).rounded(.up)) + 1
        }
        return LoadPreparation.Amounts(
            devices: devices, attestations: amount(.attest), assertions: amount(.assert), limitedUse: amount(.consume))
    }

    private static func check<Value: Comparable>(_ name: String, _ value: Value?, _ range: ClosedRange<Value>) throws {
        guard let value, !range.contains(value) else { return }
        throw ValidationError("\(name) must be from \(range.lowerBound) to \(range.upperBound)")
    }
}
#endif
