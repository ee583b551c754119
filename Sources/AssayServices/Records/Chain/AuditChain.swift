package import AssayCore
internal import AssayCrypto

/// The hash chain of an audit file.
///
/// A line of a chain ends with two members, `"seq"` and `"chain"`. `seq` counts from 1. `chain` is the SHA-256, in
/// Base 64 (URL alphabet, no padding), over the text of the previous line's `chain` (nothing when `seq` is 1), followed by
/// the bytes of this line before `,"chain":`.
package enum AuditChain {
    /// The place in a chain after a line: its number, and the 43 characters of its `chain`.
    package struct Head: Sendable, Hashable, CustomStringConvertible {
        /// The number of the last line.
        package let sequence: UInt64
        /// The value of its `chain`.
        @Exact package private(set) var value: String

        /// Makes a head from its parts.
        package init(sequence: UInt64, value: String) {
            self.sequence = sequence
            self.value = value
        }

        /// Reads `SEQ:CHAIN`; nil for any other text.
        package init?(_ text: String) {
            let parts = text.split(onASCII: ":")
            guard parts.count == 2, parts[1].utf8.count == AuditChain.valueLength,
                let sequence = AuditChain.number(Array(parts[0].utf8)[...]),
                parts[1].utf8.allSatisfy({ AuditChain.isValueByte($0) })
            else { return nil }
            self.init(sequence: sequence, value: String(parts[1]))
        }

        /// `SEQ:CHAIN`.
        package var description: String { "\(sequence):\(value)" }
    }

    /// The length of a `chain`: 32 bytes in Base 64 without padding.
    package static let valueLength = 43
    private static let chainMark = Array(",\"chain\":\"".utf8)
    private static let sequenceMark = Array(",\"seq\":".utf8)
    private static let tornMark = Array(",\"torn\":\"".utf8)

    /// A line without its end, with its place in the chain.
    ///
    /// - `line`: one JSON object with at least one member, without a line end.
    /// - `torn`: what the file has between the last line of the chain and this one; empty for nothing.
    package static func seal(
        _ line: ArraySlice<UInt8>, after head: Head?, torn: [UInt8] = []
    ) -> (line: [UInt8], head: Head) {
        let sequence = (head?.sequence ?? 0) &+ 1
        var sealed = Array(line.dropLast())
        sealed.reserveCapacity(sealed.count + 160)
        if !torn.isEmpty { sealed += tornMark + digest(torn[...], []).utf8 + [UInt8(ascii: "\"")] }
        sealed += sequenceMark + Array(String(sequence).utf8)
        let value = digest(Array((head?.value ?? "").utf8)[...], sealed[...])
        sealed += chainMark + Array(value.utf8) + Array("\"}".utf8)
        return (sealed, Head(sequence: sequence, value: value))
    }

    /// The line that begins a chain, sealed.
    ///
    /// - `after`: why there is no chain to continue with; nil when there was nothing before.
    package static func start(
        now: Instant, randomness: Randomness, after: String? = nil
    ) -> (line: [UInt8], head: Head, id: String) {
        let id = Base64.encodeURL(randomness.bytes(16))
        var members = [
            JSONMember("time", .string(now.textWithMilliseconds)), JSONMember("event", .string(startEvent)),
            JSONMember("chain_id", .string(id)),
        ]
        if let after { members.append(JSONMember("after", .string(after))) }
        let (line, head) = seal(JSON.object(members).encoded[...], after: nil)
        return (line, head, id)
    }

    /// The `event` of the line that begins a chain.
    package static let startEvent = "audit_started"
    /// The `event` of the line that says which lines the keeping rule removes: `last_seq` and `last_chain` in its `details`.
    package static let removedEvent = "audit_removed"
    /// `after`, when the file has lines of no chain before it.
    package static let afterOtherLines = "other_lines"
    /// `after`, when the file that the chain ended in cannot be read.
    package static let afterUnreadable = "unreadable"

    /// The digest of what is between the last line of a chain and the next one, as `torn` has it.
    package static func digest(_ first: ArraySlice<UInt8>, _ second: ArraySlice<UInt8>) -> String {
        Base64.encodeURL(SHA256.hash(first, second))
    }

    /// The last line of those that a line says were removed by the keeping rule; nil for any other line.
    static func removed(_ line: ArraySlice<UInt8>) -> Head? {
        // The time has one length, so the event of a record is in one place.
        guard line.dropFirst(timeLength).starts(with: removedMark),
            let details = (try? JSON.parse(line, limits: JSON.Limits(bytes: LineSplitter.lengthLimit)))?["details"],
            let sequence = details["last_seq"]?.integer.flatMap({ UInt64(exactly: $0) }),
            let value = details["last_chain"]?.string
        else { return nil }
        return Head(sequence: sequence, value: value)
    }

    private static let timeLength = "{\"time\":\"2026-11-24T08:15:00.000Z\",".utf8.count
    private static let removedMark = Array("\"event\":\"\(removedEvent)\",".utf8)

    fileprivate static func isValueByte(_ byte: UInt8) -> Bool {
        byte.isASCIILetterOrDigit || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
    }

    /// A number without a sign and leading zeros, from 1.
    fileprivate static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
        guard (1...19).contains(digits.count), digits.first != UInt8(ascii: "0"), digits.allSatisfy(\.isASCIIDigit)
        else { return nil }
        return digits.reduce(0) { $0 &* 10 &+ UInt64($1 &- 0x30) }
    }

    /// A line of a chain, taken apart.
    package struct Line {
        /// The line's number and its `chain`.
        package let head: Head
        /// The digest of what is torn before the line; nil when nothing is.
        package let torn: String?
        /// The bytes before `,"chain":`.
        let body: ArraySlice<UInt8>

        /// Takes a line apart, without its end; nil when it has no place in a chain.
        package init?(_ line: ArraySlice<UInt8>) {
            let tail = line.suffix(AuditChain.valueLength + 2)
            let value = tail.dropLast(2)
            guard value.count == AuditChain.valueLength, tail.suffix(2).elementsEqual("\"}".utf8),
                value.allSatisfy(AuditChain.isValueByte)
            else { return nil }
            let marked = line.dropLast(AuditChain.valueLength + 2)
            guard line.first == UInt8(ascii: "{"),
                marked.suffix(AuditChain.chainMark.count).elementsEqual(AuditChain.chainMark)
            else { return nil }
            body = marked.dropLast(AuditChain.chainMark.count)
            let digits = body.suffix(20).reversed().prefix { $0.isASCIIDigit }.count
            let before = body.dropLast(digits)
            guard let sequence = AuditChain.number(body.suffix(digits)),
                before.suffix(AuditChain.sequenceMark.count).elementsEqual(AuditChain.sequenceMark)
            else { return nil }
            head = Head(sequence: sequence, value: String(decoding: value, as: UTF8.self))
            torn = AuditChain.Line.torn(before.dropLast(AuditChain.sequenceMark.count))
        }

        private static func torn(_ line: ArraySlice<UInt8>) -> String? {
            let value = line.dropLast().suffix(AuditChain.valueLength)
            let rest = line.dropLast(1 + AuditChain.valueLength)
            guard line.last == UInt8(ascii: "\""), value.count == AuditChain.valueLength,
                value.allSatisfy(AuditChain.isValueByte),
                rest.suffix(AuditChain.tornMark.count).elementsEqual(AuditChain.tornMark)
            else { return nil }
            return String(decoding: value, as: UTF8.self)
        }

        /// Whether the line follows the one with the head; nil means that it begins a chain.
        package func follows(_ previous: Head?) -> Bool {
            let value = AuditChain.digest(Array((previous?.value ?? "").utf8)[...], body)
            return head.sequence == (previous?.sequence ?? 0) &+ 1 && value.isExactly(head.value)
        }

        /// Whether it begins a chain.
        package var isStart: Bool { head.sequence == 1 && follows(nil) }
    }
}
