internal import AssayClient
internal import AssayCommand
internal import AssayCore
internal import Synchronization

#if canImport(Glibc)
internal import Glibc
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// A JWT from a file that others may not read, or from standard input: never an argument, which other users could see.
final class TokenInput: Sendable {
    private static let limit = 16 * 1024

    private let place: String
    private let name: String
    private let found = Mutex<String?>(nil)

    /// - Parameters:
    ///   - place: a file, or `-`.
    ///   - name: what it is called in a sentence.
    init(_ place: String, name: String) {
        self.place = place
        self.name = name
    }

    /// Whether an option's value names standard input.
    static func isStandardInput(_ place: String?) -> Bool { place.map { $0.isExactly("-") } ?? false }

    /// The token, without the line break that may follow it; it is read once.
    ///
    /// - Throws: ``AppCheckError`` with the code `invalidConfiguration`.
    func token() throws(AppCheckError) -> String {
        if let token = found.withLock({ $0 }) { return token }
        let token = try read()
        found.withLock { $0 = token }
        return token
    }

    private func read() throws(AppCheckError) -> String {
        let isStandardInput = Self.isStandardInput(place)
        if isStandardInput, isatty(STDIN_FILENO) == 1 {
            Terminal.report("reading \(name) from standard input")
        }
        var bytes: [UInt8]
        do throws(SecretError) {
            bytes = try isStandardInput ? Self.standardInput() : SecretFile.read(place, limit: Self.limit)
        } catch {
            throw AppCheckError(.invalidConfiguration, error.message)
        }
        while let last = bytes.last, last == UInt8(ascii: "\n") || last == UInt8(ascii: "\r") { bytes.removeLast() }
        guard !bytes.isEmpty, bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw AppCheckError(
                .invalidConfiguration,
                "\(isStandardInput ? "standard input" : place) holds no token: a JWT is one line without spaces.")
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func standardInput() throws(SecretError) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = readBytes(&buffer)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw SecretError("standard input cannot be read") }
            if count == 0 { return bytes }
            bytes += buffer.prefix(count)
            guard bytes.count <= limit else { throw SecretError("standard input has more than \(limit) bytes") }
        }
    }
}

// Inside the type above, the name means its own method.
private func readBytes(_ buffer: inout [UInt8]) -> Int {
    read(STDIN_FILENO, &buffer, buffer.count)
}
