internal import AssayCore

extension Readiness {
    /// The worst of several: if any is not ready, that one; otherwise any degraded one, each with all reasons.
    package static func combined(_ parts: [Readiness]) -> Readiness {
        var failures: [String] = []
        var complaints: [String] = []
        for part in parts {
            switch part {
            case .ready: break
            case .degraded(let reason): complaints.append(reason)
            case .notReady(let reason): failures.append(reason)
            }
        }
        if !failures.isEmpty { return .notReady(failures.joined(separator: "; ")) }
        return complaints.isEmpty ? .ready : .degraded(complaints.joined(separator: "; "))
    }
}
