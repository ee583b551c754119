internal import AssayCore
internal import AssayHTTP
internal import NIOHPACK

/// The head of a reply in HTTP/2.
extension HPACKHeaders {
    /// The fields that most replies have with exactly this text.
    ///
    /// No other fields enter the encoder's table: a field whose value never repeats, such as the decision, the date or
    /// a token, would push out those that do, and make each search of the table slower.
    private static let repeated: [(name: String, value: String)] = [
        ("content-type", "application/json; charset=UTF-8"),
        ("cache-control", "no-store"),
        ("x-content-type-options", "nosniff"),
        ("access-control-allow-origin", "*"),
    ]
    /// The statuses in the protocol's own table (RFC 7541, appendix A).
    private static let statuses: Set<Int> = [200, 204, 206, 304, 400, 404, 500]

    init(status: Int, _ fields: HeaderFields) {
        self.init()
        reserveCapacity(fields.count + 2)
        add(
            name: ":status", value: String(status),
            indexing: HPACKHeaders.statuses.contains(status) ? .indexable : .nonIndexable)
        for (name, value) in fields {
            let isRepeated = HPACKHeaders.repeated.contains { $0.name.isExactly(name) && $0.value.isExactly(value) }
            add(name: name, value: value, indexing: isRepeated ? .indexable : .nonIndexable)
        }
    }
}
