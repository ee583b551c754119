internal import AssayCore
internal import AssayKit
internal import Logging

extension ProviderCall {
    /// Judges accepted evidence by the shadow settings; returns what records have under `would_refuse`, nil for nothing.
    ///
    /// It has no effect: what it writes is dropped, and when it cannot decide, only the metric says so. It cannot where it would write
    /// what the provider in force does not: a counter, or a use of what may be used once.
    func shadowRefusal(_ fields: RequestFields, challenge: [UInt8]?, _ tape: CallTape?) async -> ExactText? {
        guard let tape, let shadow = app.shadows[method.descriptor.name], case .exchange(let prepare) = shadow.action
        else { return nil }
        let plugin = shadow.provider.pluginGuard
        let stage = ShadowEnvironment(tape)
        let call = ProviderCall(scope: scope, app: app, method: shadow)
        do {
            let prepared = try await scope.reading(plugin) { try prepare(fields) }
            let context = call.shadowContext(challenge: challenge)
            let verdict = try await scope.calling(
                plugin, shadow.provider.breaker, isFault: { !plugin.fault(in: $0).isNil }
            ) {
                try await ShadowEnvironment.$current.withValue(stage) {
                    let verdict = try await prepared.appraise(context)
                    guard case .verified(let appraisal) = verdict else { return verdict }
                    return try await appraisal.settled(in: ShadowStore(store: scope.host.store), isLive: false)
                }
            }
            if stage.writes { throw ShadowWrites() }
            guard case .refused(let reason, _, _) = verdict else { return nil }
            let name = "\(shadow.provider.descriptor.name):\(reason.code)"
            RuleMetrics.countShadow(name, of: app.identity.subject, isDecided: true, on: scope.host.meter)
            return ExactText(name)
        } catch {
            let name = shadow.provider.descriptor.name
            RuleMetrics.countShadow(name, of: app.identity.subject, isDecided: false, on: scope.host.meter)
            scope.host.logger.debug(
                "shadow settings could not be judged",
                metadata: ["provider": "\(name)", "app": "\(app.identity.subject)", "error": "\(error)"])
            return nil
        }
    }
}
