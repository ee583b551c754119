public import AssayCore
public import AssayEngine
internal import AssayKit
internal import AssayPolicy
internal import AssayVerifier
internal import AssayYAML

extension Registry {
    /// The JSON Schema (2020-12) of policies for these plugins, for completion and checks in editors.
    public var policySchema: JSON {
        let providers = providers.values.sorted { $0.descriptor.name.precedesExactly($1.descriptor.name) }
            .map { provider in
                PolicySchema.Provider(
                    name: provider.descriptor.name, summary: provider.descriptor.summary, section: provider.section())
            }
        let consumers = consumers.values.sorted { $0.descriptor.name.precedesExactly($1.descriptor.name) }
            .map { consumer in
                PolicySchema.Provider(
                    name: consumer.descriptor.name, summary: consumer.descriptor.summary, section: consumer.section(),
                    allowsUnenforced: consumer.allowsUnenforced)
            }
        return PolicySchema(
            providers: providers, platforms: platforms, consumers: consumers,
            consumerKeys: ConsumerBindings.kernelKeys.reduce(into: [:]) {
                $0[ExactText($1.key)] = ValueShape(of: $1.type)
            },
            caller: ValueShape(of: CallerConfiguration.self),
            issuer: ValueShape(of: TrustedIssuerConfiguration.self),
            permissions: permissions.map(\.name).sortedExactly()
        ).json
    }
}
