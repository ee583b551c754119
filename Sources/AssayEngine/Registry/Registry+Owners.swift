extension Registry {
    /// The name of the provider that a method belongs to; nil for the kernel's own methods, and for one that there is not.
    public func provider(of method: String) -> String? {
        owners[method]
    }
}
