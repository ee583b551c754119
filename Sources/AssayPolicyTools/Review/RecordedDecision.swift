internal import AssayCore
internal import AssayEngine
internal import AssayKit
internal import AssayPolicy

/// What a line of an audit file says of a decision, as far as policies can be tried with it.
struct RecordedDecision: Sendable {
    /// One line.
    enum Line: Sendable {
        case decision(RecordedDecision)
        /// The sum of many decisions without lines of their own.
        case sum(count: Int64)
        /// A change of the service itself.
        case event
        case malformed
    }

    /// The name in records of requests to protected services.
    static let protection = "protect"

    var id = ""
    /// When it was made; nil where that cannot be read.
    var time: Instant?
    var method = ""
    var resource = ""
    var outcome = ""
    var provider: String?
    var reason: String?
    var status: String?
    var caller: String?
    var rule: String?
    var unenforced: String?
    /// The rule of the transport that led to the method; nil where there was none.
    var route: String?
    /// Which deny list refused the evidence, as ``DenialSource`` has it.
    var denyList: String?
    /// Whether a token for limited use was issued.
    var limitedUse = false
    /// The facts and the use of a token, which are read only where they matter.
    private var factText: ArraySlice<UInt8> = []
    private var useText: ArraySlice<UInt8> = []

    private static let limits = JSON.Limits(bytes: 1 << 20, depth: 8, values: 4096)

    /// Reads a line without its end.
    static func read(_ line: ArraySlice<UInt8>) -> Line {
        var scanner = RecordScanner(line)
        let reader = scanner
        var decision = RecordedDecision()
        var (has, count, isEvent) = (0, Int64?.none, false)
        let isWhole = scanner.forEachMember { name, value in
            func text() -> String? { reader.text(value) }
            func required() -> String {
                guard let text = text() else { return "" }
                has += 1
                return text
            }
            if reader.isNamed(name, "decision") {
                decision.id = required()
            } else if reader.isNamed(name, "time") {
                decision.time = text().flatMap { Instant(rfc3339: $0) }
            } else if reader.isNamed(name, "method") {
                decision.method = required()
            } else if reader.isNamed(name, "resource") {
                decision.resource = required()
            } else if reader.isNamed(name, "outcome") {
                decision.outcome = required()
            } else if reader.isNamed(name, "provider") {
                decision.provider = text()
            } else if reader.isNamed(name, "reason") {
                decision.reason = text()
            } else if reader.isNamed(name, "status") {
                decision.status = text()
            } else if reader.isNamed(name, "caller") {
                decision.caller = text()
            } else if reader.isNamed(name, "rule") {
                decision.rule = text()
            } else if reader.isNamed(name, "unenforced_reason") {
                decision.unenforced = text()
            } else if reader.isNamed(name, "route") {
                decision.route = text()
            } else if reader.isNamed(name, "deny_list") {
                decision.denyList = text()
            } else if reader.isNamed(name, "limited_use") {
                decision.limitedUse = reader.bytes(value).map { $0.elementsEqual("true".utf8) } ?? false
            } else if reader.isNamed(name, "facts") {
                decision.factText = reader.bytes(value) ?? []
            } else if reader.isNamed(name, "token_use") {
                decision.useText = reader.bytes(value) ?? []
            } else if reader.isNamed(name, "count") {
                count = reader.bytes(value).flatMap { Int64(String(decoding: $0, as: UTF8.self)) }
            } else if reader.isNamed(name, "event") {
                isEvent = true
            }
        }
        guard isWhole else { return .malformed }
        if isEvent { return .event }
        if decision.outcome.isExactly("summed") { return count.map { .sum(count: $0) } ?? .malformed }
        return has == 4 ? .decision(decision) : .malformed
    }

    /// The facts as they were written; none where they cannot be read.
    var facts: [JSONMember] { Self.parse(factText)?.members ?? [] }

    /// How a token was counted; nil where that is not recorded.
    var tokenUse: JSON? { Self.parse(useText) }

    /// The service that a token was counted for; nil where that is not recorded.
    var service: String? { tokenUse?["service"]?.string }

    private static func parse(_ text: ArraySlice<UInt8>) -> JSON? {
        text.isEmpty ? nil : try? JSON.parse(text, limits: limits)
    }

    /// A fact that is a text.
    func fact(_ name: FactName) -> String? { facts.first { $0.name.isExactly(name.text) }?.value.string }

    /// Whether it was refused for a reason, or would have been if that were enforced.
    func isRefused(_ reason: Reason) -> Bool { (self.reason ?? unenforced).isExactly(reason.code) }

    /// The outcome with its cause: `issued`, `refused nonce_mismatch`, `rejected NOT_FOUND`.
    var ending: String {
        if let reason { return "\(outcome) \(reason)" }
        if let status { return "\(outcome) \(status)" }
        return outcome
    }
}

extension RecordedDecision {
    /// The facts by the types that a provider declares; nil when one was cut, so that rules cannot judge it.
    func facts(_ types: [ExactText: FactType]) -> [Fact]? {
        var facts: [Fact] = []
        for member in self.facts {
            guard let type = types[member.name] else { continue }
            if let text = member.value.string, text.unicodeScalars.count > Self.longest, text.ends(withExactly: "...") {
                return nil
            }
            guard let value = FactReader.read(recorded: member.value, type) else { continue }
            facts.append(Fact(FactName(member.name, type), value))
        }
        return facts
    }

    /// The facts whose values are not of the types that a provider declares, and these types.
    func unreadableFacts(_ types: [ExactText: FactType]) -> [(name: String, type: FactType)] {
        facts.compactMap { member in
            guard let type = types[member.name], FactReader.read(recorded: member.value, type) == nil else {
                return nil
            }
            return (member.name, type)
        }
    }

    /// The most characters of a text that records keep.
    private static let longest = 160
}
