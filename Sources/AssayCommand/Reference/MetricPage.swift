internal import AssayCore
internal import AssayEngine
internal import AssayHTTP
internal import AssayHTTPServer
internal import AssayKit
internal import AssayServer

/// Every metric that a server shows: for `assay metrics`.
struct MetricPage {
    /// The metrics of one part of the program, in the order of their names.
    struct Section {
        /// The plugin's name; nil for the program itself.
        let plugin: String?
        let families: [MetricFamily]
    }

    let sections: [Section]

    /// - Throws: where two metrics have one name.
    init(_ plugins: Registry) throws {
        let metrics = try ServerMetrics(plugins)
        try TransportMetrics.add(TransportBudget(), to: metrics.registry)
        for metric in ServerMetrics.own { try metrics.registry.declare(metric) }
        var ofPlugins: [Section] = []
        var claimed: Set<ExactText> = []
        for descriptor in plugins.descriptors + plugins.consumerDescriptors where !descriptor.metrics.isEmpty {
            var families: [MetricFamily] = []
            for metric in descriptor.metrics {
                let family = try metrics.registry.declare(metric, scope: "\(descriptor.name)_")
                claimed.insert(ExactText(family.name))
                families.append(family)
            }
            ofPlugins.append(
                Section(
                    plugin: descriptor.name, families: families.sorted { $0.name.precedesExactly($1.name) }))
        }
        let own = metrics.registry.families().filter { !claimed.contains(ExactText($0.name)) }
        sections = [Section(plugin: nil, families: own)] + ofPlugins
    }

    var families: [MetricFamily] { sections.flatMap(\.families) }

    /// The metrics with what they mean, one a line.
    var lines: [String] {
        let width = families.map(\.name.count).max() ?? 0
        return families.map { family in
            family.name + String(repeating: " ", count: width - family.name.count + 2)
                + "\(Self.kind(family.metric.kind))  \(family.metric.summary)"
        }
    }

    /// The page *Metrics* of the documentation.
    var markdown: String {
        let introduction = """
            What a server shows at `/metrics`, in the formats of Prometheus and OpenMetrics. A label has the values \
            that are listed, and `other` for any other value, so that label cardinality is bounded. `""` is a label \
            without a value. An *open* label has values of policies as they occur, up to a limit. Counters are there \
            from the start with all declared values of their labels, except those with open labels or with more than 128 \
            sets of values, which appear when they first count something; gauges appear when they are set. \
            [Monitor a server](Monitoring.md) describes the most important ones.
            """
        let parts = sections.flatMap { section in
            [
                "## \(section.plugin.map { Markdown.code($0) } ?? "The server")",
                Markdown.table(
                    ["metric", "kind", "unit", "labels", "meaning"],
                    section.families.map { family in
                        [
                            Markdown.code(family.name), Self.kind(family.metric.kind), Self.unit(family.metric),
                            family.metric.labels.map(Self.text).joined(separator: "; "), family.metric.summary,
                        ]
                    }),
            ]
        }
        return Markdown.page(
            "Metrics", "Look up the meaning of a number on the page of metrics.",
            by: "\(AssayProgram.current.name) metrics --markdown",
            [introduction] + parts)
    }

    private static func kind(_ kind: Metric.Kind) -> String {
        switch kind {
        case .counter: "counter"
        case .gauge: "gauge"
        case .histogram: "histogram"
        }
    }

    /// The unit, which is the end of the name.
    private static func unit(_ metric: Metric) -> String {
        var name = metric.name
        if name.ends(withExactly: "_total") { name.removeLast("_total".count) }
        if name.ends(withExactly: "timestamp_seconds") || name.ends(withExactly: "start_time_seconds") {
            return "Unix time in seconds"
        }
        if name.ends(withExactly: "_seconds") { return "seconds" }
        if name.ends(withExactly: "_bytes") || name.ends(withExactly: "_bytes_limit") { return "bytes" }
        if metric.summary.ends(withExactly: "1 or 0.") || name.ends(withExactly: "_info") { return "1 or 0" }
        return "count"
    }

    private static func text(_ label: Metric.Label) -> String {
        let name = Markdown.code(label.name)
        if label.name.isExactly("version") { return "\(name): the release" }
        if label.name.isExactly("method") { return "\(name): every method (`\(AssayProgram.current.name) methods`)" }
        if label.name.isExactly("reason"), label.values.count > 16 {
            return "\(name): every [reason](Reasons.md), a canonical status, or `\"\"`"
        }
        var values: [String] = []
        for value in label.values where !values.contains(exactly: value) { values.append(value) }
        let declared = Markdown.code(values.map { $0.isEmpty ? "\"\"" : $0 })
        guard label.openValues > 0 else { return "\(name): \(declared)" }
        return "\(name): \(declared)\(values.isEmpty ? "" : " and ")open, at most \(label.openValues)"
    }
}
