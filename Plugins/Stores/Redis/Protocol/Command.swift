internal import NIOCore

/// What is sent to a server: words, or a call of a script.
enum Command: Sendable {
    case words([[UInt8]])
    case script(Script, keys: [[UInt8]], arguments: [[UInt8]])

    init(_ words: String...) {
        self = .words(words.map { Array($0.utf8) })
    }

    /// The bytes that it keeps in memory while it waits, roughly.
    var bytes: Int {
        switch self {
        case .words(let words): words.reduce(64) { $0 + $1.count }
        case .script(_, let keys, let arguments): (keys + arguments).reduce(128) { $0 + $1.count }
        }
    }

    /// Writes it as an array of strings.
    ///
    /// - `digests`: by which the server knows the scripts; nil sends the script's text.
    func write(to buffer: inout ByteBuffer, digests: [[UInt8]]?) {
        switch self {
        case .words(let words):
            Command.begin(words.count, &buffer)
            for word in words { Command.add(word, &buffer) }
        case .script(let script, let keys, let arguments):
            Command.begin(3 + keys.count + arguments.count, &buffer)
            if let digests {
                Command.add(Array("EVALSHA".utf8), &buffer)
                Command.add(digests[script.rawValue], &buffer)
            } else {
                Command.add(Array("EVAL".utf8), &buffer)
                Command.add(Array(script.text.utf8), &buffer)
            }
            Command.add(Array("\(keys.count)".utf8), &buffer)
            for key in keys { Command.add(key, &buffer) }
            for argument in arguments { Command.add(argument, &buffer) }
        }
    }

    private static func begin(_ count: Int, _ buffer: inout ByteBuffer) {
        buffer.writeString("*\(count)\r\n")
    }

    private static func add(_ word: [UInt8], _ buffer: inout ByteBuffer) {
        buffer.writeString("$\(word.count)\r\n")
        buffer.writeBytes(word)
        buffer.writeString("\r\n")
    }
}
