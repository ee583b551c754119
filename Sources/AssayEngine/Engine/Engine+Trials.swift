package import AssayCore
internal import AssayKit
internal import AssayPolicy

extension Engine {
    /// A token as this engine would have issued it at a time for an app, without evidence; nil for an unknown app.
    ///
    /// For trials of policies in memory, whose keys nobody trusts.
    package func trialToken(
        for resource: String, by provider: String, limitedUse: Bool, issued: Instant
    ) throws -> String? {
        guard case .app(let app)? = snapshot.policies.find(resource) else { return nil }
        return try snapshot.keys.issuer(at: host.clock.now).issue(
            app.claims, provider: provider,
            isForDevelopment: snapshot.policies.descriptors[provider]?.isForDevelopment ?? false,
            lifetime: app.providers[provider]?.tokenLifetime ?? TokenLifetime.range.lowerBound, limitedUse: limitedUse,
            now: issued, randomness: host.randomness
        ).text
    }
}
