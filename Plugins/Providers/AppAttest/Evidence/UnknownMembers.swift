internal import AssayCore
internal import AssayKit
internal import Logging
internal import Synchronization

/// The members of evidence that this version does not know and passes over.
///
/// The maps around Apple's signed bytes are not signed themselves: a member here proves nothing.
struct UnknownMembers: Sendable, Hashable {
    /// The most names that are kept.
    private static let nameLimit = 8
    /// The longest part of a name that is kept.
    private static let lengthLimit = 64

    /// Their names, such as `attStmt.name`, in printable ASCII: other characters are question marks.
    private(set) var names: [ExactText] = []
    /// How many there are.
    private(set) var count = 0

    /// Adds a member of a map; nil is the outermost one.
    mutating func add(_ key: String, in map: String?) {
        count += 1
        guard names.count < Self.nameLimit else { return }
        let bytes = key.utf8.prefix(Self.lengthLimit).map { (0x21...0x7E).contains($0) ? $0 : UInt8(ascii: "?") }
        names.append(ExactText((map.map { "\($0)." } ?? "") + String(decoding: bytes, as: UTF8.self)))
    }

    /// The names in one line, for records; nil when there are none.
    var words: String? {
        guard count > 0 else { return nil }
        let more = count - names.count
        return names.map(\.string).joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
    }
}

extension UnknownMembers {
    /// The kinds of evidence, for metrics and logs.
    enum Evidence: String, CaseIterable {
        case attestation, assertion
    }

    static let passedOver = Metric.counter(
        "unknown_members_total", "Members of verified evidence that this version does not know, and passed over.",
        labels: [.init("evidence", Evidence.allCases.map(\.rawValue))])

    /// Counts the members of verified evidence, and warns of each name once.
    func report(of evidence: Evidence, _ meter: Meter, _ logger: @autoclosure () -> Logger) {
        guard count > 0 else { return }
        meter.add(Double(count), to: Self.passedOver, evidence.rawValue)
        let new = UnknownMemberNames.shared.insert(names)
        guard !new.isEmpty else { return }
        logger().warning(
            """
            App Attest evidence has members that this version does not know, and passes over; if many devices send them, \
            update Assay
            """,
            metadata: [
                "evidence": "\(evidence.rawValue)",
                "members": "\(new.map(\.string).joined(separator: ", "))",
            ])
    }
}

/// The names that this process has warned of, for all apps.
private final class UnknownMemberNames: Sendable {
    static let shared = UnknownMemberNames()

    /// After so many different names, which anybody with a device can invent, only the metric and records tell of more.
    private static let limit = 16
    private let known = Mutex<Set<ExactText>>([])

    /// Adds names; returns those that are new.
    func insert(_ names: [ExactText]) -> [ExactText] {
        known.withLock { known in
            names.filter { known.count < Self.limit && known.insert($0).inserted }
        }
    }
}
