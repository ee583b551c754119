internal import AssayCore

/// What the settings of a server mean for writes that it acknowledged.
struct DurabilityVerdict: Sendable {
    let confirmation: Confirmation
    /// What the server may forget, each with what to change; none for a server that keeps what it acknowledged.
    @Exact private(set) var losses: [String]

    /// - `replicas`: how many replicas have to confirm a write.
    init(_ facts: ServerFacts, replicas: Int) {
        let settings = facts.settings ?? [:]
        func value(_ name: String) -> String { settings[ExactText(name)] ?? "" }
        var losses: [String] = []
        var kind = replicas > 0 ? Confirmation.Kind.replicas : .none
        if case nil = facts.settings {
            losses.append(
                "its settings cannot be read (CONFIG GET is not permitted), so that nothing is known of its disk")
        } else if !value("appendonly").isExactly("yes") {
            losses.append(
                "`appendonly` is off: a restart or a crash forgets what came after the last snapshot; set `appendonly yes`"
            )
        } else {
            let isAlways = value("appendfsync").isExactly("always")
            let isSkipped = value("no-appendfsync-on-rewrite").isExactly("yes")
            let isFlushed = isAlways && !isSkipped || value("appendfsync").isExactly("everysec") && !isSkipped
            if facts.hasWaitAOF, isFlushed, !isAlways || replicas > 0 {
                kind = .disks
            } else if !isAlways || isSkipped {
                let remedy = "set `appendfsync always` and `no-appendfsync-on-rewrite no`"
                losses.append(
                    isAlways
                        ? "`no-appendfsync-on-rewrite` is on: a loss of power during a rewrite forgets writes; \(remedy)"
                        : "`appendfsync` is not `always`: a loss of power forgets about the last second or more; \(remedy)"
                )
            }
        }
        let policy = value("maxmemory-policy")
        if !policy.isEmpty, !policy.isExactly("noeviction") {
            losses.append(
                "`maxmemory-policy` is `\(RedisStoreError.shortened(policy))`: a full server evicts unexpired entries; set `noeviction`"
            )
        }
        self.losses = losses
        confirmation = Confirmation(kind: kind, replicas: replicas)
    }

    /// - Throws: ``RedisStoreError/Code/mayForget`` where the operator has not permitted it.
    func check(_ durability: RedisLocation.Durability, server: String) throws(RedisStoreError) {
        guard durability == .strict, !losses.isEmpty else { return }
        throw RedisStoreError(
            .mayForget,
            "\(server): this server may forget acknowledged writes, and then accept once more what was used: "
                + losses.joined(separator: "; ") + "; or permit it with #durability=relaxed")
    }
}
