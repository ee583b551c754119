internal import AssayCore
internal import AssayKit
internal import NIOCore

extension RedisStore {
    /// Names of a space in their order, with what is stored under them.
    struct Page {
        var entries: [(name: [UInt8], entry: StoredEntry?)] = []
        /// Whether no names follow.
        var isLast = true
    }

    /// - `readsValues`: false finds out only which entries exist.
    func page(
        _ space: String, after name: [UInt8]?, count: Int, readsValues: Bool
    ) async throws(RedisStoreError) -> Page {
        let start = name.map { [UInt8(ascii: "(")] + $0 } ?? [UInt8(ascii: "-")]
        let index = connector.keys.index(space)
        guard isCluster else {
            var (keys, arguments) = begin(index)
            keys.append(index)
            arguments += [
                start, Array("\(count)".utf8), connector.keys.entries(space),
                Array("\(readsValues ? Limits.pageBytes : 0)".utf8),
            ]
            let reply = try await call(
                .script(.page, keys: keys, arguments: arguments), key: index, writes: false, deadline)
            return try page(of: reply, count: count, readsValues: readsValues)
        }
        let words =
            ["ZRANGEBYLEX"].map { Array($0.utf8) } + [index, start]
            + ["+", "LIMIT", "0", "\(count)"].map { Array($0.utf8) }
        let reply = try await call(.words(words), key: index, writes: false, deadline)
        guard let elements = reply.elements else { throw unexpected(reply) }
        var page = Page(isLast: elements.count < count)
        for entry in try await entries(elements.map { $0.bytes ?? [] }, of: space) { page.entries.append(entry) }
        return page
    }

    private func page(of reply: RedisReply, count: Int, readsValues: Bool) throws(RedisStoreError) -> Page {
        guard let elements = reply.elements, let total = elements.first?.number,
            elements.count.isMultiple(of: 2) == false
        else { throw unexpected(reply) }
        var page = Page()
        for position in stride(from: 1, to: elements.count - 1, by: 2) {
            guard let name = elements[position].bytes else { throw unexpected(reply) }
            if readsValues {
                page.entries.append((name, try entry(of: elements[position + 1])))
            } else {
                page.entries.append((name, nil))
            }
        }
        page.isLast = total < count && page.entries.count == total
        return page
    }

    /// The entries of a cluster's slots, many at a time.
    private func entries(
        _ names: [[UInt8]], of space: String
    ) async throws(RedisStoreError) -> [(name: [UInt8], entry: StoredEntry?)] {
        let (prefix, deadline) = (connector.keys.entries(space), deadline)
        let results = await withTaskGroup(of: (Int, Result<StoredEntry?, RedisStoreError>).self) { group in
            for (index, name) in names.enumerated() {
                group.addTask {
                    do throws(RedisStoreError) {
                        return (index, .success(try await self.entry(prefix + name + [UInt8(ascii: "}")], deadline)))
                    } catch {
                        return (index, .failure(error))
                    }
                }
            }
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        var entries: [(name: [UInt8], entry: StoredEntry?)] = []
        for (index, name) in names.enumerated() {
            guard let result = results[index] else { continue }
            entries.append((name, try result.get()))
        }
        return entries
    }

    /// Removes the names of entries that are gone from the indexes of the spaces that this store has touched.
    ///
    /// Returns how many names were looked at.
    @discardableResult
    func sweep() async throws(RedisStoreError) -> Int {
        var count = 0
        for space in knownSpaces {
            var last: [UInt8]?
            while !Task.isCancelled {
                let page = try await page(space, after: last, count: Limits.page, readsValues: false)
                count += page.entries.count
                if isCluster {
                    for (name, entry) in page.entries where entry == nil { try await forget(name, of: space) }
                }
                last = page.entries.last?.name
                if page.isLast || last == nil { break }
            }
        }
        return count
    }

    /// Takes a name out of the index of a cluster, unless its entry is made meanwhile.
    ///
    /// An insertion adds the name before and after the entry; so either it comes after the removal, or the entry is found
    /// here.
    private func forget(_ name: [UInt8], of space: String) async throws(RedisStoreError) {
        let (index, deadline) = (connector.keys.index(space), deadline)
        _ = try await call(.words([Array("ZREM".utf8), index, name]), key: index, writes: true, deadline)
        let key = connector.keys.entries(space) + name + [UInt8(ascii: "}")]
        guard try await entry(key, deadline) != nil else { return }
        _ = try await call(
            .words([Array("ZADD".utf8), index, [UInt8(ascii: "0")], name]), key: index, writes: true, deadline)
    }
}
