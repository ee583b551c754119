internal import AssayKit

/// How a page of metrics is written.
public enum ExpositionFormat: Sendable, Hashable, CaseIterable {
    /// Prometheus text exposition format 0.0.4.
    case prometheusText
    /// OpenMetrics 1.0.0.
    case openMetrics

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
        guard parts[0].isExactly("application/openmetrics-text") else { return false }
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
