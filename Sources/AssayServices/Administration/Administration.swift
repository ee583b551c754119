internal import AssayCore
public import AssayEngine

extension Administration {
    /// The administration API: the levels of services, the deny list, the records of decisions, and the settings of providers.
    ///
    ///     let registry = try Registry(plugins, administration: .api)
    public static let api = Administration(services + resourcePolicies + denyEntries + decisions) {
        ConfigMethods(provider: $0, resource: $1, standard: $2).all
    }
}
