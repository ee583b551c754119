internal import AssayCore

/// `HOST:PORT`, with an IPv6 address in brackets.
struct ListenAddress: Sendable {
    let host: String
    let port: Int

    init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// Reads `HOST:PORT`.
    init(_ text: String) throws(ArgumentCause) {
        guard let colon = text.lastIndex(of: ":") else { throw "no port" }
        let digits = text[text.index(after: colon)...]
        guard !digits.isEmpty, digits.utf8.allSatisfy(\.isASCIIDigit), let port = UInt16(digits) else {
            throw "the port is not a number from 0 to 65535"
        }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        guard !host.isEmpty else { throw "no host" }
        self.host = String(host)
        self.port = Int(port)
    }

    /// Whether it stands for all addresses of this machine.
    var isEverywhere: Bool { host.isExactly("0.0.0.0") || host.isExactly("::") }

    /// The address as options take it.
    var text: String { "\(host):\(port)" }
}
