/// The name of a plugin in policies, `door_lock`, with the names that follow from it.
struct PluginName {
    /// The longest name in bytes.
    static let maximumByteCount = 40

    /// `door_lock`: in policies, reasons and facts.
    let snake: String
    /// `DoorLock`: the module, and how the names of types begin.
    let upperCamel: String
    /// `doorLock`: in names of methods and paths.
    let lowerCamel: String
    /// `door-lock`: the package and its folder.
    let hyphenated: String

    /// Checks a name.
    ///
    /// - Throws: ``Refusal`` for anything that is no name of a plugin, or that is taken.
    init(_ text: String) throws(Refusal) {
        let bytes = Array(text.utf8)
        guard !bytes.isEmpty else { throw Refusal("the name is empty; \(Self.expected)") }
        guard bytes.count <= Self.maximumByteCount else {
            throw Refusal("the name has \(bytes.count) bytes: \(Self.maximumByteCount) at most")
        }
        let shown = text.debugDescription
        guard bytes.allSatisfy({ Self.isLetter($0) || Self.isDigit($0) || $0 == Self.underscore }) else {
            throw Refusal("\(shown) is not the name of a plugin; \(Self.expected)")
        }
        let words = bytes.split(separator: Self.underscore, omittingEmptySubsequences: false)
        guard Self.isLetter(bytes[0]), words.allSatisfy({ !$0.isEmpty }) else {
            throw Refusal("\(shown) is not the name of a plugin; \(Self.expected)")
        }
        let capitals = words.map {
            [$0[$0.startIndex] & (Self.isLetter($0[$0.startIndex]) ? 0xDF : 0xFF)] + $0.dropFirst()
        }
        snake = text
        upperCamel = Self.text(capitals.joined())
        lowerCamel = Self.text(words[0] + capitals.dropFirst().joined())
        hyphenated = Self.text(words.joined(separator: [UInt8(ascii: "-")]))
        if let owner = ReservedNames.owner(ofName: snake, module: upperCamel) {
            throw Refusal("\(shown) is taken: it is \(owner). Choose another name")
        }
    }

    private static let underscore = UInt8(ascii: "_")
    private static let expected =
        "expected words of lower-case letters and digits, joined by underscores, that begin with a letter: door_lock"

    private static func isLetter(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }
    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
    private static func text(_ bytes: some Sequence<UInt8>) -> String { String(decoding: Array(bytes), as: UTF8.self) }
}

/// Why no package was made, in words for the person who asked for it.
struct Refusal: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
