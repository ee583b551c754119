internal import AssayKit

/// A plain-text answer of Apple's, read regardless of case and of white space around it.
struct AppleWords: Sendable {
    /// The beginning, when it is printable ASCII.
    let text: String?
    let isEmpty: Bool
    private let lowered: String

    init(_ body: [UInt8]) {
        let isSpace = { (byte: UInt8) in byte == 0x20 || (0x09...0x0D).contains(byte) }
        var bytes = body[...].drop(while: isSpace)
        while let last = bytes.last, isSpace(last) { bytes = bytes.dropLast() }
        isEmpty = bytes.isEmpty
        bytes = bytes.prefix(200)
        let isText = !bytes.isEmpty && bytes.allSatisfy { (0x20...0x7E).contains($0) }
        text = isText ? String(decoding: bytes, as: UTF8.self) : nil
        lowered = (text ?? "").lowercasedASCII
    }

    /// 400 with `Missing or incorrectly formatted device token payload`, or without the last word, or in an object.
    var isAboutDeviceToken: Bool { lowered.utf8.contains("device token".utf8) }

    /// `Failed to find bit state`, once `Bit State Not Found`: with status 200 for devices whose bits were never set.
    var saysThatBitsAreUnset: Bool { ["failed to find bit state", "bit state not found"].contains(exactly: lowered) }
}
