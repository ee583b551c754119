internal import AssayCore
package import AssayHTTPServer

/// What the listeners together hold for their clients, as the page of metrics shows it.
package enum TransportMetrics {
    package static func add(_ budget: TransportBudget, to registry: MetricRegistry) throws(MetricError) {
        let declare = { (metric: Metric) throws(MetricError) in try registry.declare(metric).series([]) }
        let bytes = try declare(
            .gauge("transport_bytes", "Bytes reserved for connections, unanswered requests and replies."))
        let byteLimit = try declare(.gauge("transport_bytes_limit", "The most bytes that may be reserved."))
        let streams = try declare(.gauge("transport_streams", "Open requests, complete or not."))
        let streamLimit = try declare(.gauge("transport_streams_limit", "The most requests that may be open."))
        let refused = try declare(
            .counter("transport_refused_total", "Connections, requests and replies that were refused for lack of room.")
        )
        byteLimit?.set(Double(budget.byteLimit))
        streamLimit?.set(Double(budget.streamLimit))
        registry.beforeEachPage {
            bytes?.set(Double(budget.bytes))
            streams?.set(Double(budget.streams))
            refused?.mirror(Double(budget.refused))
        }
    }
}
