internal import AssayCore
internal import AssayKit

/// The owner of each name.
struct NameClaims {
    private var owners: [ExactText: String] = [:]

    /// - Throws: `RegistryError` with both owners for a name that is claimed already.
    mutating func claim(_ what: String, _ name: String, by owner: String) throws(RegistryError) {
        let key = "\(what) '\(name)'"
        if let other = owners[key] { throw RegistryError("\(key) is claimed by both \(other) and \(owner)") }
        owners[key] = owner
    }

    /// Claims the name of a provider or a consumer.
    mutating func claim(_ kind: PluginKind, _ name: String, by owner: String) throws(RegistryError) {
        try claim("the \(kind.rawValue) name", name, by: owner)
        // Providers and consumers share one namespace of metrics and of the state store.
        try claim("the plugin name", name, by: owner)
    }

    /// Claims the scheme of a store, a sink or a vault.
    mutating func claimScheme(_ kind: PluginKind, _ scheme: String, by owner: String) throws(RegistryError) {
        try claim("the \(kind.rawValue)", scheme, by: owner)
    }

    /// Claims the scheme of a store, a sink or a vault after it was found to be well formed.
    mutating func claim(
        _ kind: PluginKind, _ descriptor: StorageDescriptor, by owner: String
    ) throws(RegistryError) {
        let known = StorageDescriptor.oldestContract...StorageDescriptor.currentContract
        guard known.contains(descriptor.contract) else {
            throw RegistryError(
                "the \(kind.rawValue) \(owner) was built for contract \(descriptor.contract), and this kernel speaks "
                    + "contract \(StorageDescriptor.currentContract)")
        }
        for scheme in [descriptor.scheme] + descriptor.aliases {
            guard PlainText.isWord(scheme) else {
                throw RegistryError(
                    "the \(kind.rawValue) \(owner) has the scheme '\(PlainText.line(scheme, limit: 80))': a scheme is "
                        + "lower-case letters, digits and underscores")
            }
            try claimScheme(kind, scheme, by: owner)
        }
    }

    /// Claims all names of a provider or a consumer, after they were found to be well formed.
    mutating func claim(
        _ kind: PluginKind, _ descriptor: PluginDescriptor, methods: [MethodDescriptor], by owner: String
    ) throws(RegistryError) {
        try claim(kind, descriptor.name, by: owner)
        for method in methods { try claim("the method", method.name, by: owner) }
        for reason in descriptor.reasons { try claim("the reason", reason.code, by: owner) }
        for metric in descriptor.metrics {
            try claim("the metric", "\(descriptor.name)_\(metric.name)", by: owner)
        }
    }
}
