internal import AssayCore
internal import AssayHTTPClient
internal import AssayKit
internal import AssayPolicy
internal import Logging

/// Where a server has its policies from, and what belongs to that.
struct PolicyPlace: Sendable {
    let source: any PolicySource
    /// The source, where it is a URL.
    var bundle: PolicyBundleSource?
    var client: HTTPClientService?
    /// The folder with `plugins.yaml`; nil for none.
    let plugins: PolicyDirectory?

    /// - Parameter stores: the stores that the program has.
    /// - Throws: what is wrong with a file that the configuration names.
    init(_ origin: PolicyOrigin, state: String, among stores: [StorageDescriptor], logger: Logger) throws {
        switch origin {
        case .folder(let path):
            let directory = PolicyDirectory(path)
            source = directory
            plugins = directory
        case .bundle(let origin):
            guard let url = EndpointURL(origin.url) else {
                throw SecretError("not a URL that can be called: \(origin.url)")
            }
            // Framing comes on top of the bundle.
            var options = HTTPClientOptions(connectionsPerServer: 2, responseBytes: PolicyBundle.byteLimit + (1 << 20))
            try options.trust(origin.authorityFile, option: "--bundle-ca FILE")
            let client = try HTTPClientService(options)
            let bundle = try PolicyBundleSource(
                PolicyBundleOptions(
                    url: url, keyFiles: origin.keyFiles,
                    folder: try origin.folder
                        ?? KeyFolder.standard(forState: state, content: "policies", among: stores),
                    interval: origin.interval), http: client, logger: logger)
            source = bundle
            self.bundle = bundle
            self.client = client
            plugins = origin.pluginFolder.map { PolicyDirectory($0) }
        }
    }

    var readiness: Readiness { bundle?.readiness ?? .ready }

    /// What asks for the bundle; nil for a folder.
    func polling(
        _ reloader: Reloader, _ observer: @escaping @Sendable (_ isReachable: Bool) -> Void
    ) -> PolicyBundlePolling? {
        bundle.map { PolicyBundlePolling($0, reloader: reloader, observer: observer) }
    }
}
