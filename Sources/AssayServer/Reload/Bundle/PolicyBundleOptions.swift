public import AssayCore
internal import AssayPolicy

/// Where a ``PolicyBundleSource`` finds its bundle, and which it accepts.
public struct PolicyBundleOptions: Sendable {
    /// The URL of the bundle.
    public var url: EndpointURL
    /// The files of the public keys in PEM, one in each, any of which may have signed the bundle; read again when they change.
    public var keyFiles: [String]
    /// The folder that keeps the last bundle in force; made with the mode 0700 when it is missing.
    public var folder: String
    /// How often the bundle is asked for, on average: each wait is a half to one and a half of it.
    ///
    /// Less than a second, such as zero, counts as a second.
    public var interval: Duration
    /// How long one download may take.
    public var timeLimit: Duration

    private static let leastInterval = Duration.seconds(1)

    /// Makes options.
    public init(
        url: EndpointURL, keyFiles: [String], folder: String, interval: Duration = .seconds(20),
        timeLimit: Duration = .seconds(20)
    ) {
        self.url = url
        self.keyFiles = keyFiles
        self.folder = folder
        self.interval = interval
        self.timeLimit = timeLimit
    }

    /// What the bundle is called in messages: the last part of the URL's path, or its host; never its query.
    var label: String {
        let name = url.path.split(onASCII: "/").last.map(String.init) ?? ""
        return name.isEmpty ? url.host : name
    }

    /// The URL without its query, which may be a credential.
    var shownURL: String { String(url.text.prefix(upTo: url.text.firstIndex(ofASCII: "?"))) }

    /// A wait between two downloads, at random, so that many servers do not ask at once.
    package func wait(_ randomness: Randomness = .system) -> Duration {
        let interval = max(interval, Self.leastInterval)
        return interval / 2 + randomness.duration(upTo: interval)
    }
}
