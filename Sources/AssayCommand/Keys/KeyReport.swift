internal import AssayCore
internal import AssayEngine
internal import AssayServices

/// Keys as they are shown.
enum KeyReport {
    /// What happens to a key next, in words.
    static func outlook(_ key: KeyDescription, now: Instant) -> String {
        let work = key.purpose == .signing ? "signs" : "seals"
        switch key.state {
        case .prepared:
            guard let next = key.next else { return "waits to be activated" }
            return next.event == .begins
                ? "\(work) automatically from \(next.at) on" : "may be activated from \(next.at) on"
        case .active:
            guard let next = key.next else { return "\(work) until another is activated" }
            return "\(work) until \(next.at), when another takes its place"
        case .retired:
            guard let next = key.next else { return "opens what it sealed, forever" }
            return "published until \(next.at)"
        case .expired: return "no longer published; leaves the file with a later change"
        case .revoked:
            return "\(key.purpose == .signing ? "not published" : "opens nothing") since \(key.since ?? now)"
        }
    }

    /// One line a key, in columns.
    static func table(_ keys: [KeyDescription], now: Instant) -> [String] {
        let rows =
            [["KIND", "KID", "ALGORITHM", "STATE", "CREATED", "NEXT"]]
            + keys.map { key in
                [
                    key.purpose.rawValue, key.id, "\(key.algorithm) \(key.bits)", key.state.rawValue,
                    "\(key.created)", outlook(key, now: now),
                ]
            }
        let widths = (rows.first ?? []).indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            zip(row, widths).map { cell, width in
                cell + String(repeating: " ", count: width - cell.count)
            }
            .joined(separator: "  ").trimmingSpaces
        }
    }

    /// All keys in one line of JSON.
    static func json(_ keys: [KeyDescription], now: Instant) -> JSON {
        let entries = keys.map { key -> JSON in
            [
                "kind": .string(key.purpose.rawValue), "kid": .string(key.id), "algorithm": .string(key.algorithm),
                "bits": .integer(Int64(key.bits)), "state": .string(key.state.rawValue),
                "created": .string(key.created.description), "ready": .string(key.ready.description),
                "since": key.since.map { .string($0.description) } ?? .null,
                "next": key.next.map { next in
                    ["event": .string(next.event.rawValue), "at": .string(next.at.description)]
                } ?? .null,
            ]
        }
        return ["now": .string(now.description), "keys": .array(entries)]
    }
}

extension String {
    /// Without the spaces at its end.
    fileprivate var trimmingSpaces: String {
        String(reversed().drop { $0 == " " }.reversed())
    }
}
