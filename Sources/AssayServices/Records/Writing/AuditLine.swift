internal import AssayCore
internal import AssayEngine
internal import AssayKit

/// A decision as a line of the audit file: one JSON object, whose fields keep their names and meanings.
///
/// | field | value |
/// |---|---|
/// | `time` | when the call came in (RFC 3339, UTC, milliseconds) |
/// | `decision` | the decision's identifier, which clients get too |
/// | `method` | the method's name |
/// | `resource` | the canonical name of the app; what was asked for when there is no such app |
/// | `outcome` | `challenged`, `issued`, `answered`, `refused`, `rejected` or `error` |
/// | `duration_ms` | how long the answer took |
/// | `provider` | the provider, where the method has one |
/// | `reason` | of `refused`: the reason's code (`assay reasons`) |
/// | `status` | of `rejected` and `error`: the canonical status |
/// | `jti`, `expires`, `limited_use` | of `issued`: the token's identifier and end, and whether it can be used once |
/// | `detail` | what else helps to explain it |
/// | `facts` | what was learned from the evidence: an object |
/// | `peer` | the caller's address |
/// | `caller` | the policy's name for the caller, where the method demands a permission |
/// | `unenforced_reason` | what the request would have been refused for, had its level not been `UNENFORCED`: a reason's code |
/// | `rule` | the rule of the policy that the evidence matched, and that decided |
/// | `deny_list` | of `evidence_denied`: `policies` for an entry of the policy files, `server` for one that an administrator added |
/// | `would_refuse` | the shadow rules that would have refused the evidence: a list |
/// | `revision` | the policies that it was judged by: `LABEL@HASH`, or the hash alone |
/// | `route` | the rule of the transport that led to the method |
/// | `token_use` | how a token that was shown, or not, is counted: `category`, `admitted`, `service`, `app`, `enforcement`. `admitted`: whether it was let through |
///
/// A line whose `outcome` is `summed` stands for many decisions without lines of their own, because nothing about them
/// was verified and too many came. `since` and `time` are the beginning and the end, `count` is their number, `groups`
/// has the number for each `method`, `outcome`, `cause` (the reason or the status) and `subject` (the known resource or
/// caller), and `others` is the number of those in no group.
///
/// A line with `event` is about a change of the service itself: `time`, `event` (`policies_changed`, `deny_added`, …), `caller` (the
/// policy's name of the caller that asked for it), `revision`, and `details`, an object.
///
/// Text from outside is cut to 160 characters of printable ASCII: no line is long, and none contains a whole token. The text of a
/// fact is cut to 160 characters of any kind, because rules can be tried on it; `details` keeps its text. All of a line is printable
/// ASCII, and every other character an escape, which a program that shows the text must escape again.
enum AuditLine {
    /// The line with its end.
    static func encode(_ record: DecisionRecord) -> [UInt8] {
        var members: [JSONMember] = [
            JSONMember("time", .string(record.time.textWithMilliseconds)),
            JSONMember("decision", .string(SafeText.of(record.decision.text))),
            JSONMember("method", .string(SafeText.of(record.method))),
            JSONMember("resource", .string(SafeText.of(record.resource))),
            JSONMember("outcome", .string(record.outcome.name)),
            JSONMember("duration_ms", .number(record.duration.shortMilliseconds)),
        ]
        if let provider = record.provider { members.append(JSONMember("provider", .string(SafeText.of(provider)))) }
        switch record.outcome {
        case .challenged, .answered: break
        case .issued(let tokenID, let limitedUse, let expires):
            members.append(JSONMember("jti", .string(SafeText.of(tokenID))))
            members.append(JSONMember("expires", .string(expires.textWithMilliseconds)))
            members.append(JSONMember("limited_use", .bool(limitedUse)))
        case .refused(let reason):
            members.append(JSONMember("reason", .string(reason.code)))
        case .rejected, .failed: break
        }
        if let status = record.outcome.status { members.append(JSONMember("status", .string(status.rawValue))) }
        if let detail = record.detail { members.append(JSONMember("detail", .string(SafeText.of(detail)))) }
        if !record.facts.isEmpty {
            let facts = record.facts.prefix(DecisionRecord.factLimit).map { JSONMember($0.name.text, value(of: $0)) }
            members.append(JSONMember("facts", .object(facts)))
        }
        if let peer = record.peer { members.append(JSONMember("peer", .string(SafeText.of(peer)))) }
        if let caller = record.caller { members.append(JSONMember("caller", .string(SafeText.of(caller)))) }
        if let reason = record.unenforced { members.append(JSONMember("unenforced_reason", .string(reason.code))) }
        if let rule = record.rules.decided { members.append(JSONMember("rule", .string(SafeText.of(rule.string)))) }
        if let source = record.denial { members.append(JSONMember("deny_list", .string(source.rawValue))) }
        if !record.rules.wouldRefuse.isEmpty {
            let rules = record.rules.wouldRefuse.prefix(16).map { JSON.string(SafeText.of($0.string)) }
            members.append(JSONMember("would_refuse", .array(rules)))
        }
        if let use = record.tokenUse { members.append(JSONMember("token_use", value(of: use))) }
        if let revision = record.revision {
            members.append(JSONMember("revision", .string(SafeText.of("\(revision)"))))
        }
        if let route = record.route { members.append(JSONMember("route", .string(SafeText.of(route)))) }
        return line(members)
    }

    /// All lines are made here: what is not printable ASCII is escaped, because a terminal may obey it.
    private static func line(_ members: [JSONMember]) -> [UInt8] {
        JSON.object(members).asciiEncoded + [UInt8(ascii: "\n")]
    }

    /// The line of a change of the service itself, with its end.
    static func encode(_ event: AuditEvent) -> [UInt8] {
        var members = [
            JSONMember("time", .string(event.time.textWithMilliseconds)),
            JSONMember("event", .string(event.kind.rawValue)),
        ]
        if let caller = event.caller { members.append(JSONMember("caller", .string(SafeText.of(caller)))) }
        if let revision = event.revision { members.append(JSONMember("revision", .string(SafeText.of("\(revision)")))) }
        if !event.details.isEmpty { members.append(JSONMember("details", .object(event.details))) }
        return line(members)
    }

    /// The line of a sum, with its end.
    static func encode(_ summary: DecisionSummary) -> [UInt8] {
        let groups = summary.groups.map { group -> JSON in
            var members = [
                JSONMember("method", .string(SafeText.of(group.method.string))),
                JSONMember("outcome", .string(group.outcome.string)),
            ]
            if let cause = group.cause { members.append(JSONMember("cause", .string(cause.string))) }
            if let subject = group.subject {
                members.append(JSONMember("subject", .string(SafeText.of(subject.string))))
            }
            return .object(members + [JSONMember("count", .integer(Int64(group.count)))])
        }
        var members = [
            JSONMember("time", .string(summary.until.textWithMilliseconds)), JSONMember("outcome", "summed"),
            JSONMember("since", .string(summary.since.textWithMilliseconds)),
            JSONMember("count", .integer(Int64(summary.total))), JSONMember("groups", .array(groups)),
        ]
        if summary.others > 0 { members.append(JSONMember("others", .integer(Int64(summary.others)))) }
        return line(members)
    }

    private static func value(of use: TokenUse) -> JSON {
        var members = [
            JSONMember("category", .string(use.category.rawValue)), JSONMember("admitted", .bool(use.isAdmitted)),
        ]
        if let service = use.service { members.append(JSONMember("service", .string(SafeText.of(service)))) }
        if let app = use.app { members.append(JSONMember("app", .string(SafeText.of(app)))) }
        if let mode = use.enforcement { members.append(JSONMember("enforcement", .string(mode.rawValue))) }
        return .object(members)
    }

    /// The text of a fact as it is, so that rules and deny lists can be tried on it; only its length is cut.
    private static func recorded(_ text: String) -> String {
        guard text.unicodeScalars.count > textLimit else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.prefix(textLimit))) + "..."
    }

    /// The most characters of a fact's text.
    private static let textLimit = 160

    private static func value(of fact: Fact) -> JSON {
        switch fact.value {
        case .text(let text): .string(recorded(text))
        case .integer(let number): .integer(number)
        case .bool(let value): .bool(value)
        case .instant(let instant): .string(instant.textWithMilliseconds)
        case .duration: .string(fact.value.description)
        }
    }
}
