internal import AssayCore
public import AssayKit

extension Registry {
    /// The descriptors of the registered state stores, by their schemes; the store in memory is not among them.
    public var storeDescriptors: [StorageDescriptor] { stores.values.map(\.descriptor).sortedByScheme }

    /// The descriptors of the registered sinks for decisions, by their schemes.
    public var sinkDescriptors: [StorageDescriptor] { sinks.values.map(\.descriptor).sortedByScheme }

    /// The descriptors of the registered key vaults, by their schemes.
    public var vaultDescriptors: [StorageDescriptor] { vaults.values.map(\.descriptor).sortedByScheme }
}

extension [StorageDescriptor] {
    fileprivate var sortedByScheme: [StorageDescriptor] { sorted { $0.scheme.precedesExactly($1.scheme) } }
}
