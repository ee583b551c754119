public import AssayKit
internal import AssayPolicy
internal import AssayYAML

extension Registry {
    /// The JSON Schema (2020-12) of policies for these plugins, by which editors complete and check them.
    public var policySchema: JSON {
        let providers = providers.values.sorted { $0.descriptor.name < $1.descriptor.name }
            .map { provider in
                PolicySchema.Provider(
                    name: provider.descriptor.name, summary: provider.descriptor.summary, section: provider.section())
            }
        return PolicySchema(
            providers: providers, caller: ValueShape(of: CallerConfiguration.self),
            permissions: permissions.map(\.name).sorted()
        ).json
    }
}
