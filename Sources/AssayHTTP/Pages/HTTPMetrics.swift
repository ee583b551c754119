internal import AssayKit
internal import NIOHTTP1

/// What the transport counts.
struct HTTPMetrics: Sendable {
    private static let connections = Metric.gauge("http_connections", "HTTP connections that are open.")
    private static let accepted = Metric.counter("http_connections_accepted_total", "HTTP connections taken.")
    private static let acceptFailures = Metric.counter(
        "http_accept_failures_total", "Times that no connection could be taken, for want of file descriptors mostly.")
    private static let refusals = Metric.counter(
        "http_requests_refused_total", "HTTP requests refused before any decision.",
        labels: [
            .init("status", ["400", "404", "405", "408", "413", "415", "429", "431", "501", "503"])
        ])

    private let meter: Meter

    init(_ meter: Meter) {
        self.meter = meter
        meter.set(0, of: HTTPMetrics.connections)
        meter.add(0, to: HTTPMetrics.accepted)
        meter.add(0, to: HTTPMetrics.acceptFailures)
    }

    func opened() {
        meter.add(to: HTTPMetrics.connections)
        meter.add(to: HTTPMetrics.accepted)
    }

    func closed() {
        meter.add(-1, to: HTTPMetrics.connections)
    }

    func refused(_ status: HTTPResponseStatus) {
        meter.add(to: HTTPMetrics.refusals, String(status.code))
    }

    func acceptFailed() {
        meter.add(to: HTTPMetrics.acceptFailures)
    }
}
