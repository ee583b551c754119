/// A value that a type takes as a whole.
struct SingleValue: SingleValueDecodingContainer {
    private let decoder: NodeDecoder

    init(_ decoder: NodeDecoder) {
        self.decoder = decoder
    }

    var codingPath: [any CodingKey] { decoder.codingPath }

    func decodeNil() -> Bool { decoder.node.isNull }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        try decoder.whole(type)
    }
}
