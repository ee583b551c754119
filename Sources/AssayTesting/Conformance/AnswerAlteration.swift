internal import AssayCore

/// A change of a genuine answer of another server, after which it is no genuine one.
enum AnswerAlteration: Sendable {
    /// The same body with another status.
    case status(Int)
    /// The same status, and a member of the JSON object with another value; nil for a body without the member.
    case member([String], value: JSON?)

    private static let statuses = [302, 403, 500]
    private static let mostMembers = 32

    /// Changes of answers with these bodies: another status, and each member absent, null, or of another type.
    ///
    /// - Parameter optional: members that nothing relies on, with dots between names.
    static func all(of bodies: [[UInt8]], except optional: [String: String]) -> [AnswerAlteration] {
        var members: [(path: [String], value: JSON)] = []
        for body in bodies {
            guard let json = try? JSON.parse(body) else { continue }
            for member in self.members(of: json, at: [])
            where !members.contains(where: { $0.path.isExactly(member.path) }) {
                members.append(member)
            }
        }
        let judged = members.prefix(mostMembers).filter { optional[$0.path.joined(separator: ".")].isAbsent }
        return statuses.map { .status($0) }
            + judged.flatMap { path, value in
                [.member(path, value: nil), .member(path, value: .null), .member(path, value: value.ofOtherType)]
                    + (value.bool.map { [.member(path, value: .bool(!$0))] } ?? [])
            }
    }

    /// The members of an object, and of the objects in it.
    private static func members(of json: JSON, at path: [String]) -> [(path: [String], value: JSON)] {
        guard case .object(let members) = json, path.count < 2 else { return [] }
        return members.flatMap { member in
            let place = path + [member.name]
            return [(place, member.value)] + self.members(of: member.value, at: place)
        }
    }

    /// The altered answer; nil for one that has not what is altered.
    func applied(to answer: OutboundResponse) -> OutboundResponse? {
        var answer = answer
        switch self {
        case .status(let status): answer.status = status
        case .member(let path, let value):
            guard let json = try? JSON.parse(answer.body), let changed = json.changing(path[...], to: value) else {
                return nil
            }
            answer.body = changed.encoded
        }
        return answer
    }

    /// For findings.
    var words: String {
        switch self {
        case .status(let status): "a genuine answer with the status \(status)"
        case .member(let path, nil): "a genuine answer without `\(path.joined(separator: "."))`"
        case .member(let path, let value?):
            "a genuine answer whose `\(path.joined(separator: "."))` is \(String(decoding: value.encoded, as: UTF8.self))"
        }
    }
}

extension JSON {
    /// A value of another type that a careless reader may take for this one.
    fileprivate var ofOtherType: JSON {
        switch self {
        case .bool(let value): .string("\(value)")
        case .integer, .number: .string("x")
        case .string: .integer(1)
        case .array: .object([])
        case .object: .array([])
        case .null: .bool(true)
        }
    }

    /// The same with another value of a member, or without it; nil if there is no such member.
    fileprivate func changing(_ path: ArraySlice<String>, to value: JSON?) -> JSON? {
        guard case .object(var members) = self, let name = path.first,
            let index = members.firstIndex(where: { $0.name.isExactly(name) })
        else { return nil }
        if path.count > 1 {
            guard let inner = members[index].value.changing(path.dropFirst(), to: value) else { return nil }
            members[index] = JSONMember(name, inner)
        } else if let value {
            members[index] = JSONMember(name, value)
        } else {
            members.remove(at: index)
        }
        return .object(members)
    }
}
