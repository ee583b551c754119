internal import AssayKit

extension Registry {
    /// The name of the provider that a method belongs to; nil for the kernel's own methods, and for one that there is not.
    public func provider(of method: String) -> String? {
        owners[method]
    }

    /// The name of the provider or the consumer that a method belongs to; nil for the kernel's own methods, and for one
    /// that there is not.
    public func plugin(of method: String) -> String? {
        owners[method] ?? consumerMethods[method]?.descriptor.name
    }
}
