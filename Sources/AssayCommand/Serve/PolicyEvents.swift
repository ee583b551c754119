internal import AssayCore
internal import AssayEngine
internal import AssayHosting
internal import AssayPolicy
internal import AssayYAML

/// What the audit record says of policies.
extension AuditEvent {
    /// A server began to decide.
    static func started(_ policies: PolicySet, at now: Instant) -> AuditEvent {
        AuditEvent(
            time: now, kind: .started, revision: policies.revision,
            details: [
                JSONMember("program", .string(AssayProgram.current.name)),
                JSONMember("version", .string(AssayProgram.current.version)),
            ] + counts(of: policies))
    }

    /// Other policies are in force.
    ///
    /// - Parameter changes: what differs from those before; nil where that is not known.
    static func changed(
        to policies: PolicySet, from before: PolicySet?, _ changes: PolicyChanges?, at now: Instant
    ) -> AuditEvent {
        var details: [JSONMember] = []
        if let before { details.append(JSONMember("before", .string("\(before.revision)"))) }
        if let changes {
            details.append(JSONMember("summary", .string(SafeLine.of(changes.summary))))
            details.append(
                JSONMember("changes", .array(changes.lines(limit: changeLimit).map { .string(SafeLine.of($0)) })))
        }
        return AuditEvent(
            time: now, kind: .policiesChanged, revision: policies.revision, details: details + counts(of: policies))
    }

    /// Changed policies were refused.
    static func refused(_ revision: PolicyRevision, _ error: any Error, at now: Instant) -> AuditEvent {
        var details = [JSONMember("refused", .string("\(revision)"))]
        if let problems = error as? Diagnostics {
            details.append(JSONMember("problems", .integer(Int64(problems.all.count + problems.omitted))))
            let first = problems.all.first.flatMap { $0.location?.description ?? $0.file }
            if let first { details.append(JSONMember("first", .string(SafeLine.of(first)))) }
            if let cause = problems.all.first?.message {
                details.append(JSONMember("cause", .string(SafeLine.of(cause))))
            }
        } else {
            details.append(JSONMember("cause", .string(SafeLine.of("\(error)"))))
        }
        return AuditEvent(time: now, kind: .policiesRefused, details: details)
    }

    /// The most changes that a record names.
    private static let changeLimit = 20

    private static func counts(of policies: PolicySet) -> [JSONMember] {
        let counts = policies.counts
        return [
            JSONMember("apps", .integer(Int64(counts.apps))),
            JSONMember("oauth_clients", .integer(Int64(counts.oauthClients))),
        ]
    }
}
