public import AssayCore

/// The ID of a vehicle, trip, task or shipment, or ``all`` in its place.
///
/// An ID is Unicode in normalization form C, of 1 to 64 characters, without `/`, `:`, `?`, `,` and `#` (Google, Fleet
/// Engine reference, `providers.taskTrackingInfo`). Characters are counted as Unicode scalars. What would break a line,
/// in a log or elsewhere, is refused too.
public struct FleetEngineID: Sendable, Hashable, CustomStringConvertible {
    /// The most Unicode scalars.
    public static let lengthLimit = 64
    /// `*`: every entity of a kind.
    public static let all = FleetEngineID(checked: "*")

    /// The text of the ID.
    @Exact public private(set) var text: String

    /// Nil for text that is not an ID.
    public init?(_ text: String) {
        // A scalar has at most four bytes: longer text is not read.
        guard (1...4 * Self.lengthLimit).contains(text.utf8.count), text.unicodeScalars.count <= Self.lengthLimit,
            text.unicodeScalars.allSatisfy(Self.isAllowed), Self.isComposed(text)
        else { return nil }
        self.text = text
    }

    private init(checked text: String) {
        self.text = text
    }

    /// Whether it is `*`, which means all entities.
    public var isAll: Bool { self == .all }
    /// The text of the ID.
    public var description: String { text }

    /// Whether a text is in normalization form C.
    ///
    /// Two spellings of one text would be two vehicles to Fleet Engine, and one to a comparison of Swift's texts.
    private static func isComposed(_ text: String) -> Bool {
        var span = text.utf8Span
        return span.checkForNFC(quickCheck: false)
    }

    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "/", ":", "?", ",", "#": false
        default:
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: false
            default: !scalar.properties.isNoncharacterCodePoint
            }
        }
    }
}
