/// A form as a plain reading of its specification finds it (WHATWG URL, section 5.1).
struct FormReading {
    struct Parameter: Hashable, Comparable {
        let name: [UInt8]
        let value: [UInt8]

        init(_ name: [UInt8], _ value: [UInt8]) {
            self.name = name
            self.value = value
        }

        static func < (one: Parameter, other: Parameter) -> Bool {
            one.name == other.name
                ? one.value.lexicographicallyPrecedes(other.value) : one.name.lexicographicallyPrecedes(other.name)
        }
    }

    let parameters: [Parameter]

    /// Nil for what is refused: broken escapes, what is not UTF-8, NUL, names that are not ASCII, and more than 256 parameters.
    init?(_ bytes: [UInt8]) {
        let parts = bytes.split(separator: UInt8(ascii: "&"))
        guard parts.count <= 256 else { return nil }
        var parameters: [Parameter] = []
        for part in parts {
            let pair = part.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.text(pair[0]), let value = pair.count == 2 ? Self.text(pair[1]) : [] else {
                return nil
            }
            guard name.allSatisfy({ $0 < 0x80 }) else { return nil }
            parameters.append(Parameter(name, value))
        }
        self.parameters = parameters
    }

    private static func text(_ part: ArraySlice<UInt8>) -> [UInt8]? {
        guard let bytes = decoded(part.map { $0 == UInt8(ascii: "+") ? 0x20 : $0 }), !bytes.contains(0),
            String(validating: bytes, as: UTF8.self) != nil
        else { return nil }
        return bytes
    }

    /// Escapes decoded; nil when one is broken.
    static func decoded(_ bytes: [UInt8]) -> [UInt8]? {
        var text: [UInt8] = []
        var index = 0
        while index < bytes.count {
            guard bytes[index] == UInt8(ascii: "%") else {
                text.append(bytes[index])
                index += 1
                continue
            }
            guard index + 2 < bytes.count, let high = digit(bytes[index + 1]), let low = digit(bytes[index + 2]) else {
                return nil
            }
            text.append(high << 4 | low)
            index += 3
        }
        return text
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        Character(Unicode.Scalar(byte)).isASCII
            ? Character(Unicode.Scalar(byte)).hexDigitValue.map { UInt8($0) } : nil
    }
}

/// A request target as a backend might read it.
struct PathReading {
    /// The segments, each decoded after the path was split.
    let segments: [ArraySlice<UInt8>]
    private let path: [UInt8]
    /// The path with its escapes decoded until there are none.
    private let decoded: [UInt8]?

    init(_ target: [UInt8]) {
        var rest = target[...]
        for scheme in ["http://", "https://"] where rest.count >= scheme.utf8.count {
            if rest.prefix(scheme.utf8.count).map({ $0 | 0x20 }).elementsEqual(scheme.utf8.map { $0 | 0x20 }) {
                rest = rest.dropFirst(scheme.utf8.count).drop { $0 != UInt8(ascii: "/") }
                break
            }
        }
        path = Array(rest.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") })
        segments = path.split(separator: UInt8(ascii: "/")).map { (FormReading.decoded(Array($0)) ?? [])[...] }
        var text = FormReading.decoded(path)
        for _ in 0..<3 { text = text.flatMap { FormReading.decoded($0) ?? $0 } }
        decoded = text
    }

    /// Whether servers agree what it means: no separators that came encoded, nothing that some take out, cut off or fold.
    var isCanonical: Bool {
        guard let once = FormReading.decoded(path), path.first == UInt8(ascii: "/") else { return false }
        let parts = once.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return once.allSatisfy { (0x21...0x7E).contains($0) }
            && once.count(where: { $0 == UInt8(ascii: "/") }) == path.count(where: { $0 == UInt8(ascii: "/") })
            && !once.contains { "\\;%?#".utf8.contains($0) } && !once.contains(sequence: "::")
            && parts.enumerated().allSatisfy { index, part in
                (!part.isEmpty || index == parts.count - 1) && part.last != UInt8(ascii: ".")
            }
    }

    /// Whether it is `/bank` or below that, for servers that take no notice of case or of a slash at the end.
    var isProtected: Bool {
        guard let decoded else { return true }
        let parts = decoded.split(separator: UInt8(ascii: "/"))
        return parts.first.map { $0.map { $0 | 0x20 } == Array("bank".utf8) } ?? false
    }
}

extension [UInt8] {
    fileprivate func contains(sequence: String) -> Bool {
        let text = Array(sequence.utf8)
        return indices.contains { self[$0...].starts(with: text) }
    }
}

/// The frames that a server of HTTP/2 sent.
struct FrameReading {
    /// The code of the last GOAWAY.
    private(set) var goodbye: UInt32?
    private(set) var hasResponse = false
    private(set) var isReset = false

    /// - Throws: ``BrokenPromise`` when they are not whole frames of types that a server sends.
    init(_ output: [UInt8]) throws(BrokenPromise) {
        var rest = output[...]
        while !rest.isEmpty {
            let head = Array(rest.prefix(9))
            try BrokenPromise.unless(head.count == 9, "a frame has a head")
            let length = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
            let payload = Array(rest.dropFirst(9).prefix(length))
            try BrokenPromise.unless(payload.count == length, "a frame is whole")
            rest = rest.dropFirst(9 + length)
            switch head[3] {
            case 1: hasResponse = true
            case 3: isReset = true
            case 7 where length >= 8: goodbye = payload[4..<8].reduce(0) { $0 << 8 | UInt32($1) }
            case 0, 4, 6, 8, 9: break
            default: throw BrokenPromise("not so: a server sends frames of known types: \(head[3])")
            }
        }
    }
}
