/// An array, map, tag or chunked string whose end has not been reached.
struct OpenItem {
    enum Kind {
        case array
        case map
        case tag(UInt64)
        case bytes
        case text
    }

    let offset: Int
    private let kind: Kind
    /// How many parts are still to come; nil until a break.
    private var missing: Int?
    private var elements: [CBORValue] = []
    private var pairs: [CBORPair] = []
    private var key: CBORValue?
    /// The keys so far, once they are too many to be compared one by one.
    private var keys: Set<CBORValue> = []
    private var bytes: [UInt8] = []
    private var chunks: [String] = []

    private static let fewKeys = 8

    init(_ kind: Kind, parts: Int?, offset: Int) {
        self.kind = kind
        self.offset = offset
        missing = parts
    }

    var isComplete: Bool { missing == 0 }

    /// Whether a break may stand here: the length is indefinite, and no key waits for its value.
    var mayStop: Bool { missing == nil && key == nil }

    var takesChunks: Bool {
        switch kind {
        case .bytes, .text: true
        case .array, .map, .tag: false
        }
    }

    var value: CBORValue {
        switch kind {
        case .array: .array(elements)
        case .map: .map(pairs)
        case .tag(let number): elements.first.map { .tag(number, $0) } ?? .undefined
        case .bytes: .bytes(bytes)
        case .text: .text(chunks.joined())
        }
    }

    mutating func add(_ value: CBORValue, at offset: Int) throws(CBORError) {
        if let missing { self.missing = missing - 1 }
        guard case .map = kind else {
            elements.append(value)
            return
        }
        if let key {
            pairs.append(CBORPair(key, value))
            self.key = nil
        } else {
            guard isNew(value) else { throw CBORError(.duplicateKey, at: offset) }
            key = value
        }
    }

    /// Chunks are definite strings of the same type (RFC 8949, section 3.2.3).
    mutating func add(chunk token: Token, at offset: Int) throws(CBORError) {
        switch (kind, token) {
        case (.bytes, .bytes(let content)): bytes.append(contentsOf: content)
        case (.text, .text(let content)): chunks.append(try ValueBuilder.text(content, at: offset))
        default: throw CBORError(.malformed, at: offset)
        }
    }

    private mutating func isNew(_ key: CBORValue) -> Bool {
        if pairs.count < Self.fewKeys { return !pairs.contains { $0.key == key } }
        if keys.isEmpty { keys = Set(pairs.map(\.key)) }
        return keys.insert(key).inserted
    }
}
