internal import AssayCore
internal import Synchronization

/// The secrets that a plugin was given, in the spellings in which they could be repeated.
final class SecretNotes: Sendable {
    private let texts = Mutex<Set<ExactText>>([])

    /// Shorter ones may be part of any text.
    private static let shortest = 12

    /// A source that reads as another one does, and has its secrets noted here.
    func noting(_ source: SecretSource) -> SecretSource {
        SecretSource { [self] (reference) throws(SecretError) in
            let bytes = try source.resolve(reference)
            if let bytes { note(bytes) }
            return bytes
        }
    }

    /// Whether there are none.
    var isEmpty: Bool { texts.withLock { $0.isEmpty } }

    /// Whether a text repeats one of them.
    func areIn(_ text: String) -> Bool {
        texts.withLock { texts in texts.contains { text.utf8.contains($0.string.utf8) } }
    }

    private func note(_ bytes: [UInt8]) {
        guard bytes.count >= Self.shortest else { return }
        // Without the last characters, in which the spellings of Base 64 differ.
        var spellings =
            [Hex.encode(bytes)] + [Base64.encode(bytes), Base64.encodeURL(bytes[...])].map { String($0.dropLast(4)) }
        if let text = String(validating: bytes, as: UTF8.self) { spellings.append(text) }
        texts.withLock { texts in
            for spelling in spellings { texts.insert(ExactText(spelling)) }
        }
    }
}
