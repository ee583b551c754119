public import AssayKit

/// The plugins that a program is built with.
///
/// Whatever two of them both claim (a name, a method, a reason's code, a store's scheme) is an error that names both.
public struct Registry: Sendable {
    let providers: [String: RegisteredProvider]
    private let stores: [String: RegisteredStore]
    /// The methods of the kernel and of every provider, in the order of registration.
    public let methods: [MethodDescriptor]
    /// The kernel's own methods, by name.
    let kernelMethods: [String: KernelMethod]
    /// Each method's provider; none for the kernel's own.
    let owners: [String: String]
    /// What each method demands of its caller; absent where anybody may call.
    let demands: [String: Permission]

    /// - Throws: ``RegistryError`` when plugins are in conflict, or were written for another contract.
    public init(_ plugins: [Plugin]) throws(RegistryError) {
        var providers: [String: RegisteredProvider] = [:]
        var stores: [String: RegisteredStore] = [:]
        var kernelMethods = KernelMethods.all
        var methods = [KernelMethods.keySet] + KernelMethods.all.map(\.descriptor)
        var claims = Claims()
        for reason in KernelReasons.all { try claims.claim("the reason", reason.code, by: "the kernel") }
        for method in methods { try claims.claim("the method", method.name, by: "the kernel") }
        try claims.claim("the provider name", MintedTokens.provider, by: "the kernel")
        var owners: [String: String] = [:]
        for plugin in plugins {
            switch plugin.kind {
            case .provider(let provider):
                let descriptor = provider.descriptor
                guard descriptor.contract == PluginDescriptor.currentContract else {
                    throw RegistryError(
                        "the provider \(provider.typeName) was written for contract \(descriptor.contract), and this "
                            + "kernel speaks contract \(PluginDescriptor.currentContract)")
                }
                guard Registry.isWord(descriptor.name) else {
                    throw RegistryError(
                        "the provider \(provider.typeName) is called '\(descriptor.name)': a name is lower-case "
                            + "letters, digits and underscores")
                }
                try claims.claim("the provider name", descriptor.name, by: provider.typeName)
                for method in provider.methods { try claims.claim("the method", method.name, by: provider.typeName) }
                for reason in descriptor.reasons { try claims.claim("the reason", reason.code, by: provider.typeName) }
                for metric in descriptor.metrics {
                    if let problem = metric.problem { throw RegistryError("\(provider.typeName): \(problem)") }
                    try claims.claim("the metric", "\(descriptor.name)_\(metric.name)", by: provider.typeName)
                }
                providers[descriptor.name] = provider
                methods += provider.methods
                for method in provider.methods { owners[method.name] = descriptor.name }
                for method in provider.configMethods {
                    try claims.claim("the method", method.descriptor.name, by: provider.typeName)
                    owners[method.descriptor.name] = descriptor.name
                    kernelMethods.append(method)
                    methods.append(method.descriptor)
                }
            case .store(let store):
                try claims.claim("the store", store.scheme, by: store.typeName)
                stores[store.scheme] = store
            }
        }
        let unoffered = UnofferedMethods.all(beside: methods)
        kernelMethods += unoffered
        methods += unoffered.map(\.descriptor)
        self.providers = providers
        self.stores = stores
        self.methods = methods
        self.kernelMethods = Dictionary(
            kernelMethods.map { ($0.descriptor.name, $0) }, uniquingKeysWith: { first, _ in first })
        self.demands = methods.reduce(into: [:]) { $0[$1.name] = $1.permission }
        self.owners = owners
    }

    /// The descriptors of the registered providers, by name.
    public var descriptors: [PluginDescriptor] {
        providers.values.map(\.descriptor).sorted { $0.name < $1.name }
    }

    /// The permissions that a policy can grant.
    public var permissions: Set<Permission> {
        Set(demands.values).union([.admin, .mintTokens, .verifyTokens])
    }

    /// Every reason that a refusal can have, the kernel's first: the registry that audit records and metrics refer to.
    public var reasons: [Reason] {
        KernelReasons.all + descriptors.flatMap(\.reasons)
    }

    /// Opens the state store that an operator named: `memory`, or `SCHEME:LOCATION` of a registered store.
    public func openStore(
        _ name: String, clock: HostClock = .system
    ) async throws(StateStoreOpeningError) -> any StateStore {
        if name == "memory" { return MemoryStore(clock: clock) }
        let parts = name.split(separator: ":", maxSplits: 1)
        guard parts.count == 2, let store = stores[String(parts[0])] else {
            let known = (["memory"] + stores.keys.sorted().map { "\($0):LOCATION" }).joined(separator: ", ")
            throw StateStoreOpeningError("there is no state store '\(name)'; known are \(known)")
        }
        return try await store.open(String(parts[1]), clock)
    }

    private static func isWord(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.count <= 64
            && name.utf8.allSatisfy {
                switch $0 {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}

/// Who claims which name.
private struct Claims {
    private var owners: [String: String] = [:]

    mutating func claim(_ what: String, _ name: String, by owner: String) throws(RegistryError) {
        let key = "\(what) '\(name)'"
        if let other = owners[key] { throw RegistryError("\(key) is claimed by both \(other) and \(owner)") }
        owners[key] = owner
    }
}

/// Why plugins cannot work together.
public struct RegistryError: Error, Sendable, Equatable, CustomStringConvertible {
    public let message: String

    init(_ message: String) {
        self.message = message
    }

    public var description: String { message }
}
