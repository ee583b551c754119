internal import AssayCore

/// A change of one text within a request.
struct FieldChange: Sendable {
    /// Where the text is: names of members, and positions in lists.
    let path: [Step]
    /// What was done, for findings.
    let what: String
    /// Makes the new value from the old text.
    let change: @Sendable (String) -> JSON

    /// A step into a value.
    enum Step: Sendable, Hashable {
        case member(ExactText)
        case element(Int)
    }

    /// The name of the field at the top of the request.
    var field: String { FieldChange.field(of: path) }

    /// The name of the field at the top of the request that a place is in.
    static func field(of path: [Step]) -> String {
        if case .member(let name)? = path.first { name.string } else { "" }
    }

    /// The value at a place; nil when there is none.
    static func value(at path: ArraySlice<Step>, in value: JSON) -> JSON? {
        guard let step = path.first else { return value }
        let next: JSON? =
            switch (step, value) {
            case (.member(let name), .object(let members)):
                members.first { $0.name.isExactly(name.string) }?.value
            case (.element(let index), .array(let elements)):
                elements.indices.contains(index) ? elements[index] : nil
            default: nil
            }
        return next.flatMap { FieldChange.value(at: path.dropFirst(), in: $0) }
    }

    /// The request with the change; nil when the text is not there.
    func applied(to body: JSON) -> JSON? {
        FieldChange.replacing(path[...], in: body) { value in value.string.map(change) }
    }

    /// The texts of a request, 64 at most, each with its place.
    static func texts(of body: JSON) -> [(path: [Step], text: String)] {
        var found: [(path: [Step], text: String)] = []
        var rest: [(path: [Step], value: JSON)] = [([], body)]
        while let next = rest.popLast(), found.count < 64 {
            switch next.value {
            case .string(let text): found.append((next.path, text))
            case .object(let members):
                rest += members.reversed().map { (next.path + [.member(ExactText($0.name))], $0.value) }
            case .array(let elements):
                rest += elements.enumerated().reversed().map { (next.path + [.element($0)], $1) }
            case .null, .bool, .integer, .number: break
            }
        }
        return found
    }

    /// The value with another one at a place; nil when there is no such place, or nothing to put there.
    static func replacing(_ path: ArraySlice<Step>, in value: JSON, _ change: (JSON) -> JSON?) -> JSON? {
        guard let step = path.first else { return change(value) }
        let rest = path.dropFirst()
        switch (step, value) {
        case (.member(let name), .object(var members)):
            guard let index = members.firstIndex(where: { $0.name.isExactly(name.string) }),
                let changed = replacing(rest, in: members[index].value, change)
            else { return nil }
            members[index] = JSONMember(members[index].name, changed)
            return .object(members)
        case (.element(let index), .array(var elements)):
            guard elements.indices.contains(index), let changed = replacing(rest, in: elements[index], change) else {
                return nil
            }
            elements[index] = changed
            return .array(elements)
        default: return nil
        }
    }
}
