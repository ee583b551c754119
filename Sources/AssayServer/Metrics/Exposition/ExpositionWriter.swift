internal import AssayCore

/// Writes a page of metrics, in UTF-8.
struct ExpositionWriter {
    private let format: ExpositionFormat
    private(set) var page: [UInt8] = []

    init(_ format: ExpositionFormat) {
        self.format = format
        page.reserveCapacity(16_384)
    }

    mutating func write(_ family: MetricFamily) {
        let readings = family.readings
        guard !readings.isEmpty else { return }
        // In OpenMetrics the ending belongs to the samples of a counter, not to its name.
        let isCounter = family.metric.kind == .counter
        let title =
            isCounter && format == .openMetrics
            ? String(decoding: family.name.utf8.dropLast("_total".utf8.count), as: UTF8.self) : family.name
        append("# HELP \(title) \(ExpositionWriter.escaped(family.metric.summary, quotes: format == .openMetrics))\n")
        append("# TYPE \(title) \(ExpositionWriter.type(family.metric.kind))\n")
        for (labels, reading) in readings {
            guard case .histogram(let bounds) = family.metric.kind else {
                sample(family.name, labels, reading.value)
                continue
            }
            var total: UInt64 = 0
            for (bound, count) in zip(bounds + [.infinity], reading.buckets) {
                total &+= count
                let end = (name: "le", value: ExpositionWriter.number(bound))
                sample("\(family.name)_bucket", labels + [end], Double(total))
            }
            sample("\(family.name)_sum", labels, reading.value)
            sample("\(family.name)_count", labels, Double(total))
        }
    }

    mutating func end() {
        if format == .openMetrics { append("# EOF\n") }
    }

    private mutating func sample(_ name: String, _ labels: [(name: String, value: String)], _ value: Double) {
        append(name)
        if !labels.isEmpty {
            append("{")
            for (index, label) in labels.enumerated() {
                if index > 0 { append(",") }
                append("\(label.name)=\"\(ExpositionWriter.escaped(label.value, quotes: true))\"")
            }
            append("}")
        }
        append(" \(ExpositionWriter.text(value))\n")
    }

    private mutating func append(_ text: String) {
        page.append(contentsOf: text.utf8)
    }

    private static func type(_ kind: Metric.Kind) -> String {
        switch kind {
        case .counter: "counter"
        case .gauge: "gauge"
        case .histogram: "histogram"
        }
    }

    /// The upper bound of a bucket: always with a decimal point, so that it is the same text in both formats.
    private static func number(_ value: Double) -> String {
        value == .infinity ? "+Inf" : "\(value)"
    }

    private static func text(_ value: Double) -> String {
        guard !value.isNaN else { return "NaN" }
        guard value.isFinite else { return value < 0 ? "-Inf" : "+Inf" }
        return value == value.rounded() ? whole(value) : "\(value)"
    }

    /// A whole number without a decimal point, if it can be written exactly.
    private static func whole(_ value: Double) -> String {
        Int64(exactly: value).map { "\($0)" } ?? "\(value)"
    }

    private static func escaped(_ text: String, quotes: Bool) -> String {
        guard text.utf8.contains(where: { [UInt8(ascii: "\\"), UInt8(ascii: "\""), 0x0A, 0x0D].contains($0) }) else {
            return text
        }
        var shown = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": shown += "\\\\"
            case "\"" where quotes: shown += "\\\""
            case "\n": shown += "\\n"
            // Not an escape of the format, but some readers treat it as the end of a line.
            case "\r": shown += " "
            default: shown.unicodeScalars.append(scalar)
            }
        }
        return shown
    }
}

extension MetricRegistry {
    /// Everything that was recorded so far, as a page.
    public func page(_ format: ExpositionFormat = .prometheusText) -> [UInt8] {
        var writer = ExpositionWriter(format)
        for family in families() { writer.write(family) }
        writer.end()
        return writer.page
    }
}

/// The format of a page of metrics.
@nonexhaustive public enum ExpositionFormat: Sendable, Hashable, CaseIterable {
    /// Prometheus text exposition format 0.0.4.
    case prometheusText
    /// OpenMetrics 1.0.0.
    case openMetrics

    /// The value of the header `Content-Type` for a page in this format.
    public var contentType: String {
        switch self {
        case .prometheusText: "text/plain; version=0.0.4; charset=utf-8"
        case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
        }
    }

    /// The format that an `Accept` header asks for; OpenMetrics only when it is named in the version that is written.
    public init(accept: String) {
        self =
            accept.split(onASCII: ",").contains(where: ExpositionFormat.isOpenMetrics)
            ? .openMetrics : .prometheusText
    }

    private static func isOpenMetrics(_ range: Substring) -> Bool {
        let parts = range.split(onASCII: ";").map { part in
            String(decoding: part.lowercasedASCII.utf8.filter { !" \t\"".utf8.contains($0) }, as: UTF8.self)
        }
        guard parts.first.isExactly("application/openmetrics-text") else { return false }
        let isOurs = parts.dropFirst().allSatisfy {
            !$0.starts(withExactly: "version=") || $0.isExactly("version=1.0.0")
        }
        let isWanted = parts.dropFirst().allSatisfy { part in
            guard part.starts(withExactly: "q=") else { return true }
            return Double(part.dropFirst(2)).map { $0 > 0 } ?? false
        }
        return isOurs && isWanted
    }
}
