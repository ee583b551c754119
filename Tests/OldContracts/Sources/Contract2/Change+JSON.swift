import AssayCore
import AssayKit

/// Changes that belong together, as a line of the journal: a JSON array with an object for each.
extension [Change] {
    var line: [UInt8] { JSON.array(map(\.json)).encoded + [UInt8(ascii: "\n")] }

    /// - Throws: `PaperTrailError.damaged` for a line that is no list of changes.
    init(line: [UInt8]) throws {
        guard let json = try? JSON.parse(line, limits: JSON.Limits(bytes: 32 << 20)), let items = json.array
        else { throw PaperTrailError.damaged }
        self = try items.map { try Change($0) }
    }
}

extension Change {
    fileprivate var json: JSON {
        switch self {
        case .entry(let key, let entry?):
            [
                "space": .string(key.space), "name": .string(key.name),
                "value": .string(Base64.encode(entry.value)),
                "expires": entry.expires.map { .integer($0.milliseconds) } ?? .null,
            ]
        case .entry(let key, nil): ["space": .string(key.space), "name": .string(key.name)]
        case .counter(let key, let value):
            ["space": .string(key.space), "name": .string(key.name), "counter": .string(String(value))]
        case .removal(let space, let instant):
            ["space": .string(space), "removed": .integer(instant.milliseconds)]
        }
    }

    /// - Throws: `PaperTrailError.damaged` for what is no change.
    fileprivate init(_ json: JSON) throws {
        guard let space = json["space"]?.string else { throw PaperTrailError.damaged }
        if let removed = json["removed"]?.integer {
            self = .removal(space: space, Instant(milliseconds: removed))
            return
        }
        guard let name = json["name"]?.string else { throw PaperTrailError.damaged }
        let key = StateKey(space, name)
        switch (json["counter"]?.string, json["value"]?.string) {
        case (nil, nil):
            self = .entry(key, nil)
        case (let text?, nil):
            guard let value = UInt64(text) else { throw PaperTrailError.damaged }
            self = .counter(key, value)
        case (nil, let text?):
            guard let value = Base64.decode(text) else { throw PaperTrailError.damaged }
            let expires = json["expires"]?.integer.map { Instant(milliseconds: $0) }
            self = .entry(key, Entry(value: value, expires: expires))
        default: throw PaperTrailError.damaged
        }
    }
}
