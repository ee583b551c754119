internal import AssayCore
internal import AssayEngine
internal import AssayKit
internal import AssayPolicy
internal import AssayServices
internal import AssayYAML

/// What the audit record says of policies.
extension AuditEvent {
    /// A server began to decide.
    ///
    /// - Parameters:
    ///   - isMade: whether the keys were made at this start.
    ///   - forgotten: the keys that were given up as lost.
    ///   - copied: when the state was copied, if it is a copy that is served for the first time.
    static func started(
        _ policies: PolicySet, by server: ServerConfiguration, keys: KeyStore, made isMade: Bool, forgotten: [String],
        restoredCopyOf copied: String?, at now: Instant
    ) -> AuditEvent {
        var details = [
            JSONMember("program", .string(server.name)),
            JSONMember("version", .string(server.version)),
        ]
        let inUse = ((try? keys.list(now: now)) ?? []).filter { $0.state == .active }
        details += inUse.map { JSONMember($0.purpose.rawValue, .string($0.id)) }
        if isMade { details.append(JSONMember("made", .array(inUse.map { .string($0.id) }))) }
        if !forgotten.isEmpty {
            details.append(JSONMember("forgotten", .array(forgotten.prefix(32).map { .string(SafeLine.of($0)) })))
        }
        if let copied { details.append(JSONMember("restored_copy", .string(copied))) }
        return AuditEvent(
            time: now, kind: .started, revision: policies.revision, details: details + counts(of: policies))
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
