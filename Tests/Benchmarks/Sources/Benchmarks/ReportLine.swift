internal import AssayCore

/// One line of the output: a JSON object, of which four members are always there.
struct ReportLine: Sendable, CustomStringConvertible {
    let name: String
    private let members: [JSONMember]

    /// - Parameters:
    ///   - rate: operations a second; nil when not rates are measured.
    ///   - limit: how often the bare call can be made in a second; nil when there is none.
    ///   - needed: what the ratio of both should be at least.
    ///   - more: what only this line has.
    init(
        _ name: String, rate: Double?, limit: Double? = nil, needed: Double? = nil, more: [(String, Double)] = []
    ) {
        var ratio: Double?
        if let rate, let limit { ratio = rate / limit }
        var members = [
            JSONMember("name", .string(name)),
            JSONMember("per_second", Self.number(rate)),
            JSONMember("limit_per_second", Self.number(limit)),
            JSONMember("ratio", Self.number(ratio)),
        ]
        if let needed { members.append(JSONMember("needed", Self.number(needed))) }
        members += more.map { JSONMember($0.0, Self.number($0.1)) }
        self.name = name
        self.members = members
    }

    var description: String {
        String(decoding: JSON.object(members).encoded, as: UTF8.self)
    }

    /// Three digits behind the point are more than any measurement here is good for.
    private static func number(_ value: Double?) -> JSON {
        guard let value, value.isFinite else { return .null }
        return .number((value * 1000).rounded() / 1000)
    }
}
