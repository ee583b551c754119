internal import CLibYAML

/// Owns a libyaml parser and returns its events.
struct EventParser: ~Copyable {
    private let source: YAMLSource
    private let text: YAMLText?
    private let length: Int
    /// On the heap, because the parser points to itself.
    private let parser: UnsafeMutablePointer<yaml_parser_t>
    private let event: UnsafeMutablePointer<yaml_event_t>

    /// A parser of bytes that must outlive it.
    ///
    /// - Parameter text: what the bytes are of; nil for the bytes of the source itself.
    init(
        _ bytes: UnsafeBufferPointer<UInt8>, source: YAMLSource, of text: YAMLText? = nil
    ) throws(Diagnostics) {
        self.source = source
        self.text = text
        length = bytes.count
        parser = .allocate(capacity: 1)
        event = .allocate(capacity: 1)
        parser.initialize(to: yaml_parser_t())
        event.initialize(to: yaml_event_t())
        guard yaml_parser_initialize(parser) == 1 else {
            throw YAMLDocument.refusal(source, .start, "not enough memory to read the file")
        }
        yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        yaml_parser_set_input_string(parser, bytes.baseAddress, bytes.count)
    }

    deinit {
        yaml_event_delete(event)
        yaml_parser_delete(parser)
        event.deallocate()
        parser.deallocate()
    }

    /// The next event, which stays good until the next call.
    borrowing func next() throws(Diagnostics) -> UnsafePointer<yaml_event_t> {
        yaml_event_delete(event)
        guard yaml_parser_parse(parser, event) == 1 else { throw failure() }
        return UnsafePointer(event)
    }

    private borrowing func failure() -> Diagnostics {
        let error = parser.pointee
        guard let problem = error.problem.map({ String(cString: $0) }) else {
            return YAMLDocument.refusal(source, .start, "not enough memory to read the file")
        }
        if error.error == YAML_READER_ERROR {
            let offset = min(error.problem_offset, length)
            let position = source.position(ofByte: text?.originalOffset(of: offset) ?? offset)
            let code = error.problem_value >= 0 ? " (U+\(Self.hexadecimal(error.problem_value)))" : ""
            return YAMLDocument.refusal(source, position, "\(problem)\(code)")
        }
        let position = source.clamped(YAMLPosition(error.problem_mark))
        var message = problem
        var notes: [Diagnostic.Note] = []
        if let context = error.context.map({ String(cString: $0) }) {
            message += " \(context)"
            let start = YAMLPosition(error.context_mark)
            if start != position { notes.append(.init(location: source.location(start), message: "it starts here")) }
        }
        let hint = SyntaxHint(source).hint(for: problem, at: position)
        return Diagnostics(source.diagnostic(message, at: position, path: .root, hint: hint, related: notes))
    }

    private static func hexadecimal(_ value: Int32) -> String {
        let digits = String(value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits
    }
}

extension YAMLPosition {
    /// libyaml counts lines and columns from 0, columns in characters.
    init(_ mark: yaml_mark_t) {
        line = UInt32(clamping: mark.line &+ 1)
        column = UInt32(clamping: mark.column &+ 1)
    }
}
