internal import AssayCore

/// Where the state is, and how it is used: `URL#OPTIONS`, or libpq's `KEYWORD=VALUE …#OPTIONS`.
///
/// What is before the last `#` is libpq's and given to it as it is. Its text may hold a password, and is never repeated.
struct PostgresLocation: Sendable, CustomStringConvertible, CustomReflectable {
    /// How much the server has to promise about what it confirms.
    enum Durability: String, CaseIterable, Sendable {
        /// A loss of power.
        case strict
        /// Whatever the server is set to.
        case relaxed
    }

    /// libpq's part.
    let target: String
    /// How many connections the store keeps.
    private(set) var pool = 4
    /// How long an operation may take.
    private(set) var timeout = Duration.seconds(2)
    /// The schema of PostgreSQL in which the tables are.
    private(set) var schema = "assay"
    private(set) var durability = Durability.strict
    /// Where the password is; nil when libpq finds it.
    private(set) var password: SecretReference?

    /// The schema: the rest may hold a password.
    var description: String { "postgres, schema \(schema)" }

    /// Nothing, for the same reason.
    var customMirror: Mirror { Mirror(self, children: [Mirror.Child]()) }

    private static let usage =
        "the options after # are pool=1…64, timeout=100ms…10s, schema=NAME, durability=strict|relaxed and "
        + "password=env:NAME|file:PATH, separated by &; a # in a URL is written %23"

    /// - Throws: for a location of another form; its text is not repeated, since it may contain a password.
    init(_ text: String) throws(PostgresStoreError) {
        guard !text.utf8.contains(0), text.utf8.count <= 8192 else { throw Self.invalid("the location is not text") }
        let end = text.utf8.lastIndex(of: UInt8(ascii: "#"))
        let target = String(text.prefix(upTo: end))
        // The scheme of the store is that of the URL.
        self.target = target.starts(withExactly: "//") ? "postgres:\(target)" : target
        guard let end else { return }
        for option in text[text.utf8.index(after: end)...].split(onASCII: "&") {
            let parts = option.split(onASCII: "=", maxSplits: 1)
            guard parts.count == 2, try take(parts[0], String(parts[1])) else { throw Self.invalid(Self.usage) }
        }
    }

    private mutating func take(_ name: Substring, _ value: String) throws(PostgresStoreError) -> Bool {
        if name.isExactly("pool") {
            guard let count = Int(value), (1...64).contains(count) else { return false }
            pool = count
        } else if name.isExactly("timeout") {
            guard let duration = Self.duration(value), duration >= .milliseconds(100), duration <= .seconds(10) else {
                return false
            }
            timeout = duration
        } else if name.isExactly("schema") {
            guard Self.isName(value) else {
                throw Self.invalid("schema=NAME: expected lower-case letters, digits and underscores, at most 63")
            }
            schema = value
        } else if name.isExactly("durability") {
            guard let level = Durability(exactly: value) else { return false }
            durability = level
        } else if name.isExactly("password") {
            guard let reference = SecretReference(value) else {
                throw Self.invalid("password=REFERENCE: expected env:NAME or file:PATH, never the password itself")
            }
            password = reference
        } else {
            return false
        }
        return true
    }

    private static func duration(_ text: String) -> Duration? {
        for (unit, milliseconds) in [("ms", Int64(1)), ("s", 1000)] where text.ends(withExactly: unit) {
            guard let number = Int32(text.dropLast(unit.utf8.count)), number >= 0 else { continue }
            return .milliseconds(Int64(number) * milliseconds)
        }
        return nil
    }

    /// A name that SQL takes without quotes and as it is written.
    private static func isName(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard let first = bytes.first, bytes.count <= 63, !(0x30...0x39).contains(first) else { return false }
        // Names that begin so are the server's own.
        guard !text.starts(withExactly: "pg_") else { return false }
        return bytes.allSatisfy {
            (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "_")
        }
    }

    private static func invalid(_ words: String) -> PostgresStoreError {
        PostgresStoreError(.invalidLocation, "postgres: \(words)")
    }
}
