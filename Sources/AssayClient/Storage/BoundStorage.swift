/// The stored values of one app at one server.
///
/// A storage that fails costs a fetch or a new key, and never a token: what cannot be saved is remembered until the
/// program ends, and a notice says so once.
public struct BoundStorage: Sendable {
    private struct Change: Sendable {
        let name: String
        /// Nil for a value that was removed.
        let value: [UInt8]?
    }

    private struct Unsaved: Sendable {
        var changes: [Change] = []
        var isReported = false
    }

    private let app: String
    private let server: String
    private let storage: any ClientStorage
    private let notice: @Sendable (String) -> Void
    private let unsaved = Lock(Unsaved())

    init(app: AppName, address: ServerAddress, options: AppCheckOptions) {
        self.app = app.text
        server = address.text
        storage = options.storage
        notice = options.notice
    }

    /// A value by its name; nil without one.
    public func load(_ name: String) -> [UInt8]? {
        let change = unsaved.withLock { unsaved in unsaved.changes.first { $0.name.sameBytes(as: name) } }
        if let change { return change.value }
        do {
            return try storage.load(key(name)).flatMap { $0.count <= ClientLimits.reply ? $0 : nil }
        } catch {
            report(error)
            return nil
        }
    }

    /// Keeps a value of at most 64 KB.
    public func save(_ value: [UInt8], as name: String) {
        do {
            try storage.save(value, as: key(name))
            remember(name, nil)
        } catch {
            remember(name, Change(name: name, value: value))
            report(error)
        }
    }

    /// Removes a value.
    public func remove(_ name: String) {
        do {
            try storage.remove(key(name))
            remember(name, nil)
        } catch {
            remember(name, Change(name: name, value: nil))
            report(error)
        }
    }

    private func key(_ name: String) -> StorageKey { StorageKey(app: app, server: server, name: name) }

    private func remember(_ name: String, _ change: Change?) {
        unsaved.withLock { unsaved in
            unsaved.changes.removeAll { $0.name.sameBytes(as: name) }
            if let change { unsaved.changes.append(change) }
        }
    }

    private func report(_ error: any Error) {
        let isFirst = unsaved.withLock { unsaved in
            defer { unsaved.isReported = true }
            return !unsaved.isReported
        }
        guard isFirst else { return }
        notice(
            "The storage fails, and what it should keep is lost when the program ends; a device then makes a new key. "
                + ShownText.of("\(error)"))
    }
}
