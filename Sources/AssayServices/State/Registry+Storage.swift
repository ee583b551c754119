public import AssayCore
public import AssayEngine
public import AssayKit

extension Registry {
    /// Opens the state store with a name: `memory`, or `SCHEME:LOCATION` of a registered store.
    ///
    /// The caller closes it; see ``OpenStore``.
    public func openStore(
        _ name: String, host: StorageHost = StorageHost()
    ) async throws(StateStoreOpeningError) -> OpenStore {
        if name.isExactly("memory") { return OpenStore(MemoryStore(clock: host.clock), clock: host.clock) }
        let (store, location) = try findStore(name)
        let open = try await store.open(location, host)
        return OpenStore(open, open, clock: host.clock)
    }

    /// Writes a copy of a state to a file, while servers use the state.
    ///
    /// `openStore` opens the copy as `SCHEME:PATH`.
    ///
    /// The copy is marked as one: for a server that is started with it, every single-use value that was issued before
    /// counts as used, since it may have been used after the copy was made.
    ///
    /// - Throws: `StateStoreOpeningError`, also when the path exists already.
    public func copyStore(_ name: String, to path: String, now: Instant) async throws(StateStoreOpeningError) {
        let (store, location) = try findStore(name)
        guard !FileFingerprint(of: [path]).hasFiles else {
            throw StateStoreOpeningError("\(path) exists already: nothing was written")
        }
        try await store.copy(location, path, [StateHistory.copyKey: Array("\(now)".utf8)])
    }

    /// Checks a state for damage while servers use it; makes and changes nothing.
    public func examineStore(_ name: String) async throws(StateStoreOpeningError) -> StateStoreFindings {
        let (store, location) = try findStore(name)
        return try await store.examine(location)
    }

    /// Makes what a store needs before servers use it, for servers that may not make it themselves.
    ///
    /// Returns what was done, in words for an operator.
    public func migrateStore(_ name: String) async throws(StateStoreOpeningError) -> String {
        let (store, location) = try findStore(name)
        return try await store.migrate(location)
    }

    private func findStore(_ name: String) throws(StateStoreOpeningError) -> (StorePlugin, location: String) {
        if name.isExactly("memory") {
            throw StateStoreOpeningError(
                "the state in memory ends with its process: it cannot be checked or copied")
        }
        if let scheme = name.split(onASCII: ":", maxSplits: 1).first, let reason = unavailable(.store, String(scheme)) {
            throw StateStoreOpeningError("the state store '\(scheme)' is unavailable: \(reason)")
        }
        guard let (scheme, location) = Self.parts(name), let store = stores.chosen(by: scheme) else {
            let known = (["memory"] + storeDescriptors.map(\.usage)).joined(separator: ", ")
            throw StateStoreOpeningError("unknown state store '\(Self.shown(name))'; the stores are \(known)")
        }
        return (store, location)
    }

    /// A name for messages: a URL may hold a password.
    private static func shown(_ name: String) -> String {
        guard let (scheme, location) = parts(name), location.starts(withExactly: "//") else { return name }
        return "\(scheme)://…"
    }

    /// The scheme and the location of a name; nil without a colon.
    package static func parts(_ name: String) -> (scheme: String, location: String)? {
        let parts = name.split(onASCII: ":", maxSplits: 1)
        return parts.count == 2 ? (String(parts[0]), String(parts[1])) : nil
    }
}

extension StorageDescriptor {
    /// How an operator writes it: `sqlite:PATH`.
    package var usage: String { "\(scheme):\(location)" }
}
