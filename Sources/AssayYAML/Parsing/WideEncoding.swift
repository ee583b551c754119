/// An encoding of text in units of more than a byte, as some editors and shells write it.
enum WideEncoding: CaseIterable {
    case utf32LittleEndian
    case utf32BigEndian
    case utf16LittleEndian
    case utf16BigEndian

    /// The encoding that the first bytes of a file are in, by their mark or by where they are zero (RFC 4627, section
    /// 3): YAML allows no NUL, and a policy begins with ASCII.
    ///
    /// Nil for all other encodings.
    init?(of bytes: [UInt8]) {
        let start = bytes.prefix(4)
        guard let found = Self.allCases.first(where: { start.starts(with: $0.mark) || $0.zeros(start) }) else {
            return nil
        }
        self = found
    }

    var name: String {
        switch self {
        case .utf32LittleEndian: "UTF-32 (little endian)"
        case .utf32BigEndian: "UTF-32 (big endian)"
        case .utf16LittleEndian: "UTF-16 (little endian)"
        case .utf16BigEndian: "UTF-16 (big endian)"
        }
    }

    /// What the command `iconv` calls it.
    var iconvName: String {
        switch self {
        case .utf32LittleEndian: "UTF-32LE"
        case .utf32BigEndian: "UTF-32BE"
        case .utf16LittleEndian: "UTF-16LE"
        case .utf16BigEndian: "UTF-16BE"
        }
    }

    private var mark: [UInt8] {
        switch self {
        case .utf32LittleEndian: [0xFF, 0xFE, 0x00, 0x00]
        case .utf32BigEndian: [0x00, 0x00, 0xFE, 0xFF]
        case .utf16LittleEndian: [0xFF, 0xFE]
        case .utf16BigEndian: [0xFE, 0xFF]
        }
    }

    private func zeros(_ start: ArraySlice<UInt8>) -> Bool {
        let pattern = start.map { $0 == 0 }
        return switch self {
        case .utf32LittleEndian: pattern == [false, true, true, true]
        case .utf32BigEndian: pattern == [true, true, true, false]
        case .utf16LittleEndian: pattern.starts(with: [false, true])
        case .utf16BigEndian: pattern.starts(with: [true, false])
        }
    }
}
