/// An answer of a server, as RESP2 has it.
indirect enum RedisReply: Sendable {
    case status(String)
    case error(ServerError)
    case integer(Int64)
    case bulk([UInt8])
    case null
    case array([RedisReply])

    /// The bytes of a string; nil for anything else.
    var bytes: [UInt8]? {
        switch self {
        case .bulk(let bytes): bytes
        case .status(let text): Array(text.utf8)
        default: nil
        }
    }

    /// The text of a string; nil for anything else.
    var text: String? { bytes.map { String(decoding: $0, as: UTF8.self) } }

    var isError: Bool {
        if case .error = self { true } else { false }
    }

    var elements: [RedisReply]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    var number: Int64? {
        if case .integer(let number) = self { number } else { nil }
    }
}
