internal import AssayKit

extension Registry {
    /// The name of the provider that a method belongs to; nil for the kernel's own methods, and for one that there is not.
    public func provider(of method: String) -> String? {
        owners[method]
    }

    /// What tokens and records may name as their provider: the registered providers, and the name by which the tokens go that
    /// a caller had made without evidence.
    public var providerNames: [String] { descriptors.map(\.name) + [MintedTokens.provider] }

    /// The name of the provider or the consumer that a method belongs to; nil for the kernel's own methods, and for one
    /// that there is not.
    public func plugin(of method: String) -> String? {
        owners[method] ?? consumerMethods[method]?.descriptor.name
    }
}
