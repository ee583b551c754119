internal import AssayCore

/// The elements of a sequence, as `Decodable` types ask for them.
struct SequenceValues: UnkeyedDecodingContainer {
    private let decoder: NodeDecoder
    private let elements: [YAMLNode]
    private(set) var currentIndex = 0

    init(_ decoder: NodeDecoder, _ elements: [YAMLNode]) {
        self.decoder = decoder
        self.elements = elements
    }

    var codingPath: [any CodingKey] { decoder.codingPath }
    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex >= elements.count }

    mutating func decodeNil() throws -> Bool {
        guard try element(Never?.self).isNull else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
        let node = try element(type)
        do {
            let value = try decoder.session.decode(type, from: node, at: decoder.path.index(currentIndex))
            currentIndex += 1
            return value
        } catch {
            guard decoder.isHomogeneous else { throw error }
            throw decoder.error(failures(after: error, decoding: type))
        }
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try child().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try child().unkeyedContainer()
    }

    mutating func superDecoder() throws -> any Decoder { try child() }

    private mutating func child() throws -> NodeDecoder {
        let child = decoder.child(try element(Any.self), .index(currentIndex))
        currentIndex += 1
        return child
    }

    private func element(_ type: any Any.Type) throws -> YAMLNode {
        guard currentIndex < elements.count else {
            throw decoder.mismatch(
                type, YAMLMismatch("expected more than \(elements.count) element\(elements.count == 1 ? "" : "s")"))
        }
        return elements[currentIndex]
    }

    /// The problems of the following elements, after the first one.
    private mutating func failures<T: Decodable>(after first: any Error, decoding type: T.Type) -> LocatedFailure {
        var diagnostics = LocatedFailure(in: first)?.diagnostics ?? []
        currentIndex += 1
        while currentIndex < elements.count, diagnostics.count < LocatedFailure.limit {
            diagnostics += decoder.session.problems(
                of: type, elements[currentIndex], at: decoder.path.index(currentIndex))
            currentIndex += 1
        }
        return LocatedFailure(diagnostics)
    }
}
