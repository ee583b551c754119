internal import ArgumentParser
internal import AssayHTTP
internal import AssayKit
internal import Logging

/// Where the pages for operators are.
struct OperationsOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Where /livez, /healthz, /readyz and /metrics are served, in place of the address of --listen.",
            valueName: "host:port"))
    var operations: ListenAddress?

    /// The service that shows the pages on an address of their own; nil when they are shown with the rest.
    func service(_ handler: any CallHandler, pages: HTTPPages, logger: Logger) throws -> HTTPService? {
        guard let address = operations else { return nil }
        var configuration = HTTPConfiguration(host: address.host, port: address.port, origins: .none)
        configuration.limits.maximumConnections = 64
        return try HTTPService(
            handler: PagesOnly(handler), pages: pages, configuration: configuration, logger: logger
        ) { host, port in
            let place = host.contains(":") ? "[\(host)]" : host
            logger.info("the pages for operators are there", metadata: ["address": "http://\(place):\(port)"])
        }
    }
}
