internal import AssayCore
internal import AssayCrypto
internal import AssayEngine
internal import AssayServices

#if canImport(Glibc)
internal import Glibc
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// The files of captured evidence that an operator names: files, or folders with them.
struct EvidencePaths {
    /// The files, those of a folder in the order of time.
    let files: [String]

    private static let fileLimit = 100_000

    init(_ paths: [String]) throws(EvidenceFileError) {
        var files: [String] = []
        for path in paths {
            var status = stat()
            guard stat(path, &status) == 0 else { throw EvidenceFileError("read", path) }
            if status.st_mode & S_IFMT == S_IFDIR {
                files += try Self.files(in: path)
            } else {
                files.append(path)
            }
        }
        self.files = files
    }

    private static func files(in folder: String) throws(EvidenceFileError) -> [String] {
        guard let directory = opendir(folder) else { throw EvidenceFileError("read", folder) }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory), names.count < fileLimit {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name.starts(withExactly: "evidence-"), name.ends(withExactly: ".jsonl") { names.append(name) }
        }
        return names.sortedExactly().map { "\(folder)/\($0)" }
    }
}

/// Reads a file of captured evidence line by line.
final class EvidenceLineReader {
    private let path: String
    private let descriptor: Int32
    /// What was read and not yet returned.
    private var rest: ArraySlice<UInt8> = []
    private var number = 0
    private var isAtEnd = false

    init(_ path: String) throws(EvidenceFileError) {
        self.path = path
        do throws(RegularFile.Failure) {
            descriptor = try RegularFile.open(path)
        } catch {
            throw EvidenceFileError(error.description)
        }
    }

    deinit {
        close(descriptor)
    }

    /// The next line without its end; nil when there is none.
    ///
    /// The bytes are nil for a line that is too long.
    func next() throws(EvidenceFileError) -> (number: Int, bytes: [UInt8]?)? {
        while true {
            if rest.isEmpty, !isAtEnd { try fill() }
            if rest.isEmpty, isAtEnd { return nil }
            let bytes = try line()
            if bytes?.isEmpty != true { return (number, bytes) }
        }
    }

    /// Reads to the end of the line, and keeps no more of it than a line may have.
    private func line() throws(EvidenceFileError) -> [UInt8]? {
        number += 1
        var bytes: [UInt8] = []
        var isTooLong = false
        while true {
            let end = rest.firstIndex(of: UInt8(ascii: "\n"))
            let piece = rest[..<(end ?? rest.endIndex)]
            if bytes.count + piece.count > EvidenceLine.maximumByteCount {
                isTooLong = true
                bytes = []
            }
            if !isTooLong { bytes += piece }
            rest = end.map { rest[$0...].dropFirst() } ?? []
            if end != nil || isAtEnd { return isTooLong ? nil : bytes }
            try fill()
        }
    }

    private func fill() throws(EvidenceFileError) {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        var count = read(descriptor, &chunk, chunk.count)
        while count < 0, errno == EINTR { count = read(descriptor, &chunk, chunk.count) }
        guard count >= 0 else { throw EvidenceFileError("read", path) }
        isAtEnd = count == 0
        rest = chunk[..<count]
    }
}

/// The private key that decrypts evidence.
enum EvidenceKey {
    private static let sizeLimit = 16_384

    /// - Throws: why the file cannot be read, or is no private key on P-256.
    static func read(_ path: String) throws -> PrivateKey {
        var text = try SecretFile.read(path, limit: sizeLimit)
        defer { SecretBytes.wipe(&text) }
        let key = try PrivateKey(pem: SecretText.pem(text))
        guard key.kind == .ec(.p256) else { throw EvidenceFileError("\(path) is not a private key on P-256") }
        return key
    }
}

/// A file that cannot be used, with the system's message.
struct EvidenceFileError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }

    init(_ action: String, _ path: String) {
        description = "cannot \(action) \(path): \(String(cString: strerror(errno)))"
    }
}
