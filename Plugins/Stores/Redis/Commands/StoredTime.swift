internal import AssayCore

/// Times and counters as twenty decimal digits, which compare as texts as their numbers do.
enum Digits {
    static let count = 20

    static func of(_ number: UInt64) -> [UInt8] {
        let text = Array("\(number)".utf8)
        return Array(repeating: UInt8(ascii: "0"), count: max(count - text.count, 0)) + text
    }

    /// The milliseconds since 1970 plus 2^63.
    static func of(_ instant: Instant) -> [UInt8] {
        of(UInt64(bitPattern: instant.milliseconds) ^ (1 << 63))
    }

    /// The time of an entry: its digits, or `-` for never.
    static func of(_ instant: Instant?) -> [UInt8] {
        instant.map { of($0) } ?? [UInt8(ascii: "-")]
    }

    static func instant(_ digits: some Sequence<UInt8>) -> Instant? {
        guard let number = UInt64(String(decoding: Array(digits), as: UTF8.self)) else { return nil }
        return Instant(milliseconds: Int64(bitPattern: number ^ (1 << 63)))
    }
}

/// An entry as the server keeps it: its time, then its value.
struct StoredEntry: Sendable {
    let expires: Instant?
    let value: [UInt8]

    /// - Returns: nil for bytes that this store did not write.
    init?(_ bytes: [UInt8]) {
        if bytes.first == UInt8(ascii: "-") {
            (expires, value) = (nil, Array(bytes.dropFirst()))
        } else {
            guard bytes.count >= Digits.count, let instant = Digits.instant(bytes.prefix(Digits.count)) else {
                return nil
            }
            (expires, value) = (instant, Array(bytes.dropFirst(Digits.count)))
        }
    }

    func isLive(at now: Instant) -> Bool {
        expires.map { now < $0 } ?? true
    }
}

/// When the server itself removes an entry, by its own clock.
///
/// That is later than the entry's end by a margin, so that clocks of machines may differ by that much; and an insertion
/// of what the server would already have removed is not made, since it may have been there.
struct NativeExpiry: Sendable {
    let margin: Duration
    /// Later times are kept for ever: scripts count in doubles, which are exact up to 2^53.
    private static let latest: Int64 = 1 << 52

    /// The time in milliseconds since 1970, as an argument; empty for none.
    func removal(_ expires: Instant?) -> [UInt8] {
        guard let expires else { return [] }
        let instant = (expires + margin).milliseconds
        guard instant < Self.latest else { return [] }
        return Array("\(max(instant, 1))".utf8)
    }

    /// The milliseconds that the server keeps an entry at least, whatever its clock.
    func least(_ expires: Instant?, now: Instant) -> [UInt8] {
        guard let expires else { return [] }
        return Array("\(min(max(((expires - now) + margin).wholeMilliseconds, 1), Self.latest))".utf8)
    }
}
