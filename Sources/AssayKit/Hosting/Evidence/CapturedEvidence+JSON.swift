public import AssayCore

/// Why a record's content is not evidence.
public struct EvidenceError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What is wrong, for operators.
    @Exact public private(set) var message: String

    /// Makes an error with a message for operators.
    public init(_ message: String) {
        self.message = message
    }

    /// Same as ``message``.
    public var description: String { message }
}

extension CapturedEvidence {
    /// The version of the form that is written.
    private static let form: Int64 = 1

    /// The evidence as JSON, which `init(json:)` reads.
    ///
    /// Bytes are Base 64.
    public var json: JSON {
        var members: [JSONMember] = [
            JSONMember("v", .integer(Self.form)), JSONMember("decision", .string(decision.text)),
            JSONMember("now", .integer(time.milliseconds)), JSONMember("resource", .string(resource)),
            JSONMember("provider", .string(provider)), JSONMember("method", .string(method)),
            JSONMember("version", .string(version.rawValue)),
        ]
        if let challenge { members.append(JSONMember("challenge", .string(Base64.encode(challenge)))) }
        switch outcome {
        case .issued: members.append(JSONMember("outcome", "issued"))
        case .refused(let reason):
            members += [JSONMember("outcome", "refused"), JSONMember("reason", .string(reason.string))]
        }
        if let detail { members.append(JSONMember("detail", .string(detail))) }
        if let rule { members.append(JSONMember("rule", .string(rule))) }
        if let denial { members.append(JSONMember("deny_list", .string(denial.rawValue))) }
        members += [
            JSONMember("revision", .string(revision)), JSONMember("state", .array(state.map(\.json))),
            JSONMember("opened", .array(opened.map(\.json))), JSONMember("body", body),
        ]
        if !leftOut.isEmpty {
            members.append(
                JSONMember("left_out", .array(leftOut.map(\.rawValue).sortedExactly().map { .string($0) })))
        }
        return .object(members)
    }

    /// Evidence from JSON.
    ///
    /// - Throws: ``EvidenceError`` for any other form.
    public init(json: JSON) throws(EvidenceError) {
        let reader = MemberReader(json)
        guard reader["v"]?.integer == Self.form else {
            throw EvidenceError("it is not evidence in the form of version \(Self.form)")
        }
        guard let milliseconds = reader["now"]?.integer else { throw EvidenceError("`now` is not a number") }
        guard let version = APIVersion(exactly: try reader.text("version")) else {
            throw EvidenceError("`version` is unknown")
        }
        let outcome: Outcome
        switch try reader.text("outcome") {
        case let text where text.isExactly("issued"): outcome = .issued
        case let text where text.isExactly("refused"): outcome = .refused(ExactText(try reader.text("reason")))
        default: throw EvidenceError("`outcome` is unknown")
        }
        self.init(
            decision: DecisionID(text: try reader.text("decision")), time: Instant(milliseconds: milliseconds),
            resource: try reader.text("resource"), provider: try reader.text("provider"),
            method: try reader.text("method"), version: version, body: reader["body"] ?? .null,
            challenge: try reader.optionalBytes("challenge"), outcome: outcome,
            detail: try reader.optionalText("detail"), rule: try reader.optionalText("rule"),
            revision: try reader.text("revision"), state: try reader.elements("state", StateAnswer.init(json:)),
            opened: try reader.elements("opened", OpenedData.init(json:)),
            leftOut: Set(
                try reader.elements("left_out", isOptional: true) { (json) throws(EvidenceError) in
                    guard let part = json.string.flatMap({ Part(exactly: $0) }) else {
                        throw EvidenceError("`left_out` is unknown")
                    }
                    return part
                }))
        if let name = try reader.optionalText("deny_list") {
            guard let source = DenialSource(exactly: name) else { throw EvidenceError("`deny_list` is unknown") }
            denial = source
        }
    }
}

extension StateAnswer {
    fileprivate var json: JSON {
        var members = [JSONMember("space", .string(space)), JSONMember("name", .string(name))]
        switch operation {
        case .get(let value): members.append(JSONMember("get", value.map { .string(Base64.encode($0)) } ?? .null))
        case .insert(let isDone): members.append(JSONMember("insert", .bool(isDone)))
        // A counter can be greater than the numbers that JSON readers keep.
        case .advance(let value, let isDone):
            members += [JSONMember("to", .string("\(value)")), JSONMember("advance", .bool(isDone))]
        }
        return .object(members)
    }

    fileprivate init(json: JSON) throws(EvidenceError) {
        let reader = MemberReader(json)
        let operation: Operation
        if let isDone = json["insert"]?.bool {
            operation = .insert(isDone)
        } else if let isDone = json["advance"]?.bool {
            guard let value = UInt64(try reader.text("to")) else { throw EvidenceError("`to` is not a counter") }
            operation = .advance(to: value, isDone)
        } else if json["get"] != nil {
            operation = .get(try reader.optionalBytes("get"))
        } else {
            throw EvidenceError("an answer of the state is unknown")
        }
        self.init(try reader.text("space"), try reader.text("name"), operation)
    }
}

extension OpenedData {
    fileprivate var json: JSON {
        [
            "sha256": .string(Hex.encode(digest)), "content": content.map { .string(Base64.encode($0)) } ?? .null,
        ]
    }

    fileprivate init(json: JSON) throws(EvidenceError) {
        let reader = MemberReader(json)
        guard let digest = Hex.decode(try reader.text("sha256")) else {
            throw EvidenceError("`sha256` is not hexadecimal")
        }
        self.init(digest: digest, content: try reader.optionalBytes("content"))
    }
}

/// The members of an object; null counts as absent.
private struct MemberReader {
    private let json: JSON

    init(_ json: JSON) {
        self.json = json
    }

    subscript(name: String) -> JSON? {
        // `nil` would be a value of JSON, too.
        if let value = json[name], value != JSON.null { .some(value) } else { Optional<JSON>.none }
    }

    func text(_ name: String) throws(EvidenceError) -> String {
        guard let text = json[name]?.string else { throw EvidenceError("`\(name)` is not a text") }
        return text
    }

    func optionalText(_ name: String) throws(EvidenceError) -> String? {
        self[name] == nil ? nil : try text(name)
    }

    func optionalBytes(_ name: String) throws(EvidenceError) -> [UInt8]? {
        guard let text = try optionalText(name) else { return nil }
        guard let bytes = Base64.decode(text) else { throw EvidenceError("`\(name)` is not Base 64") }
        return bytes
    }

    func elements<Element>(
        _ name: String, isOptional: Bool = false, _ read: (JSON) throws(EvidenceError) -> Element
    ) throws(EvidenceError) -> [Element] {
        if isOptional, self[name] == nil { return [] }
        guard let elements = json[name]?.array else { throw EvidenceError("`\(name)` is not a list") }
        var result: [Element] = []
        for element in elements { result.append(try read(element)) }
        return result
    }
}
