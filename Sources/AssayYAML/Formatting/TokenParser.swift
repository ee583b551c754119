internal import CLibYAML

/// Owns a libyaml parser and returns its tokens: unlike events, they say where `-`, `:` and `,` are.
struct TokenParser: ~Copyable {
    /// On the heap, because the parser points to itself.
    private let parser: UnsafeMutablePointer<yaml_parser_t>
    private let token: UnsafeMutablePointer<yaml_token_t>

    /// A parser of bytes that must outlive it; nil because of missing memory.
    init?(_ bytes: UnsafeBufferPointer<UInt8>) {
        parser = .allocate(capacity: 1)
        token = .allocate(capacity: 1)
        parser.initialize(to: yaml_parser_t())
        token.initialize(to: yaml_token_t())
        guard yaml_parser_initialize(parser) == 1 else { return nil }
        yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        yaml_parser_set_input_string(parser, bytes.baseAddress, bytes.count)
    }

    deinit {
        yaml_token_delete(token)
        yaml_parser_delete(parser)
        token.deallocate()
        parser.deallocate()
    }

    /// The next token, which is valid until the next call; nil for text that libyaml refuses.
    borrowing func next() -> UnsafePointer<yaml_token_t>? {
        yaml_token_delete(token)
        return yaml_parser_scan(parser, token) == 1 ? UnsafePointer(token) : nil
    }
}
