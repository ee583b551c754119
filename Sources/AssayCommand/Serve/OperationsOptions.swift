internal import ArgumentParser
internal import AssayCore
internal import AssayHTTPServer
internal import AssayServer

/// Where the pages for operators are.
struct OperationsOptions: ParsableArguments {
    @Option(
        help: "The address of /metrics and of the reasons in /readyz: a separate address, or `public` for that of "
            + "--listen, where strangers can read them. By default they are not served; /livez, /healthz and the "
            + "status code of /readyz are at --listen in any case.",
        valueName: "host:port|public", reading: .operationsPlace)
    var operations: OperationsPlace?

    @Option(
        name: .customLong("operations-host"),
        help: "A name by which the pages at an address of their own may be asked for, such as that of a container; "
            + "an address and `localhost` always work. With any name, web pages could read them through an operator's "
            + "browser. May be given several times.",
        valueName: "name", reading: .hostName)
    var operationsHosts: [String] = []

    func validate() throws {
        if case .own = operations { return }
        guard operationsHosts.isEmpty else {
            throw ValidationError("--operations-host needs --operations with an address of its own")
        }
    }

    /// Where the pages are; nil for nowhere.
    var pages: OperationsPages? {
        switch operations {
        case .own(let address)?: .own(.host(address.host, port: address.port), hosts: operationsHosts)
        case .public?: .public
        case nil: nil
        }
    }
}

/// `HOST:PORT` as ``ListenAddress`` has it, or `public`.
enum OperationsPlace: Sendable {
    /// An address of their own.
    case own(ListenAddress)
    /// With the methods.
    case `public`
}

extension ArgumentReader<String> {
    /// The name of a host, without a port.
    static var hostName: Self {
        ArgumentReader(accepted: "the name of a host, such as assay.example.com, without a port") {
            text throws(ArgumentCause) in
            guard (1...253).contains(text.utf8.count),
                text.hasOnly({ $0.isASCIILetterOrDigit || "-._".utf8.contains($0) })
            else { throw "not the name of a host" }
            return text
        }
    }
}

extension ArgumentReader<OperationsPlace> {
    /// Where the pages for operators are.
    static var operationsPlace: Self {
        ArgumentReader(accepted: "HOST:PORT or `public`") { text throws(ArgumentCause) in
            text.isExactly("public") ? .public : .own(try ListenAddress(text))
        }
    }
}
