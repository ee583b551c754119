internal import AssayCore
package import AssayKit

extension ConsumerBinding {
    /// What a request demands of its token, as its method has read it: the only place where that is decided.
    ///
    /// - Parameter levels: the levels that administrators have set for its service; nil for those of the policy.
    package func demand(
        of prepared: PreparedRequest, by method: ConsumerInstance.Method, levels: ServiceLevels? = nil
    ) -> TokenDemand {
        var demand = prepared.demand ?? demand
        if let levels {
            if prepared.inherits.contains(.enforcement) { demand.enforcement = levels.enforcement }
            if prepared.inherits.contains(.replayProtection) { demand.replayProtection = levels.replayProtection }
        }
        return enforced(demand, unless: method.allowsUnenforced)
    }

    /// What token exchange demands of the token.
    package var exchangeDemand: TokenDemand { enforced(demand, unless: false) }

    /// What requests of a method may demand of their tokens, by the service that they are counted for: each demand of a part
    /// of the section, or that of the section.
    package func demands(by method: ConsumerInstance.Method) -> [PartDemand] {
        guard !instance.demands.isEmpty else {
            return [PartDemand(service: descriptor.name, demand: enforced(demand, unless: method.allowsUnenforced))]
        }
        return instance.demands.map { part in
            var part = part
            part.demand = enforced(part.demand, unless: method.allowsUnenforced)
            return part
        }
    }

    private func enforced(_ demand: TokenDemand, unless allowsUnenforced: Bool) -> TokenDemand {
        var demand = demand
        if !allowsUnenforced { demand.enforcement = .enforced }
        return demand
    }
}
