/// Builds one value from tokens, on a stack of its own.
struct ValueBuilder {
    private let limits: CBORLimits
    private var stack: [OpenItem] = []
    private var items = 0

    init(limits: CBORLimits) {
        self.limits = limits
    }

    /// Takes a token; the value, when it is complete.
    ///
    /// `remaining` is how many bytes follow the token.
    mutating func accept(_ token: Token, at offset: Int, remaining: Int) throws(CBORError) -> CBORValue? {
        if case .stop = token { return try close(at: offset) }
        items += 1
        guard items <= limits.items else { throw CBORError(.tooManyItems, at: offset) }
        if let top = stack.last, top.takesChunks {
            try stack[stack.count - 1].add(chunk: token, at: offset)
            return nil
        }
        switch token {
        case .unsigned(let number): return try complete(.unsigned(number), at: offset)
        case .negative(let number): return try complete(.negative(number), at: offset)
        case .bytes(let content): return try complete(.bytes(Array(content)), at: offset)
        case .text(let content): return try complete(.text(Self.text(content, at: offset)), at: offset)
        case .bool(let value): return try complete(.bool(value), at: offset)
        case .null: return try complete(.null, at: offset)
        case .undefined: return try complete(.undefined, at: offset)
        case .simple(let value): return try complete(.simple(value), at: offset)
        case .float(let number): return try complete(.float(number), at: offset)
        case .array(let count): return try open(.array, parts: count, at: offset, remaining: remaining)
        case .map(let pairs):
            // An overflow means more than any input holds.
            let parts = pairs.map { $0 > Int.max / 2 ? Int.max : $0 * 2 }
            return try open(.map, parts: parts, at: offset, remaining: remaining)
        case .tag(let number): return try open(.tag(number), parts: 1, at: offset, remaining: remaining)
        case .chunkedBytes: return try open(.bytes, parts: nil, at: offset, remaining: remaining)
        case .chunkedText: return try open(.text, parts: nil, at: offset, remaining: remaining)
        case .stop: return nil
        }
    }

    static func text(_ content: UnsafeBufferPointer<UInt8>, at offset: Int) throws(CBORError) -> String {
        guard let text = String(validating: content, as: UTF8.self) else { throw CBORError(.invalidUTF8, at: offset) }
        return text
    }

    private mutating func open(
        _ kind: OpenItem.Kind, parts: Int?, at offset: Int, remaining: Int
    ) throws(CBORError) -> CBORValue? {
        guard stack.count < limits.depth else { throw CBORError(.tooDeep, at: offset) }
        if let parts {
            // Each part takes a byte at least.
            guard parts <= remaining else { throw CBORError(.truncated, at: offset) }
            guard parts <= limits.items - items else { throw CBORError(.tooManyItems, at: offset) }
        }
        let item = OpenItem(kind, parts: parts, offset: offset)
        if parts == 0 { return try complete(item.value, at: offset) }
        stack.append(item)
        return nil
    }

    /// Takes the break that ends an item of indefinite length.
    private mutating func close(at offset: Int) throws(CBORError) -> CBORValue? {
        guard let top = stack.last, top.mayStop else { throw CBORError(.malformed, at: offset) }
        stack.removeLast()
        return try complete(top.value, at: top.offset)
    }

    /// Puts a value where it belongs, and with it whatever it completes.
    private mutating func complete(_ value: CBORValue, at offset: Int) throws(CBORError) -> CBORValue? {
        var value = value
        var offset = offset
        while !stack.isEmpty {
            try stack[stack.count - 1].add(value, at: offset)
            guard stack[stack.count - 1].isComplete, let done = stack.popLast() else { return nil }
            value = done.value
            offset = done.offset
        }
        return value
    }
}
