package import AssayCore
internal import Synchronization

/// Objects that all sections under one host share by their names, for as long as one of them uses them.
///
/// Nothing is kept for its own sake: a replaced snapshot takes its objects with it, except those that the next one has
/// found here in time.
package final class SharedObjects: Sendable {
    private struct Name: Hashable {
        let type: ObjectIdentifier
        /// The client of the object; nil for one that calls no server.
        let client: ObjectIdentifier?
        let text: ExactText
    }

    private struct Entry {
        weak var object: (any AnyObject & Sendable)?
    }

    private struct Table {
        var entries: [Name: Entry] = [:]
        /// With so many entries, those of objects that are gone are removed.
        var limit = 64
    }

    private let table = Mutex(Table())

    /// The object of a name, which is made if nothing uses one.
    ///
    /// - Parameters:
    ///   - client: what the object calls servers with: objects with different clients are different ones.
    ///   - make: must do no more than make the object: a lock is held meanwhile.
    package func object<Object: AnyObject & Sendable>(
        _ text: String, client: (any OutboundHTTP)? = nil, _ make: () -> Object
    ) -> Object {
        let name = Name(
            type: ObjectIdentifier(Object.self), client: client.map { ObjectIdentifier($0) }, text: ExactText(text))
        return table.withLock { table in
            if let object = table.entries[name]?.object as? Object { return object }
            let object = make()
            if table.entries.count >= table.limit {
                table.entries = table.entries.filter { $0.value.object != nil }
                table.limit = max(64, 2 * table.entries.count)
            }
            table.entries[name] = Entry(object: object)
            return object
        }
    }
}
