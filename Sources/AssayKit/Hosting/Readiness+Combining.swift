internal import AssayCore

extension Readiness {
    /// The worst of several: if any is not ready, that one; otherwise any degraded one, each with all reasons.
    package static func combined(_ parts: [Readiness]) -> Readiness {
        var failures: [String] = []
        var cautions: [String] = []
        for part in parts {
            switch part {
            case .ready: break
            case .degraded(let reason): cautions.append(reason)
            case .notReady(let reason): failures.append(reason)
            }
        }
        if !failures.isEmpty { return .notReady(failures.joined(separator: "; ")) }
        return cautions.isEmpty ? .ready : .degraded(cautions.joined(separator: "; "))
    }
}
