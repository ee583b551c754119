internal import AssayCore
internal import AssayCrypto

#if canImport(Glibc)
internal import Glibc
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// A key pair (P-256) whose private key is in a new file for this user only.
enum NewKeyPair {
    /// Makes the pair, writes the private key to a new file (PKCS #8 in PEM, mode 0600), prints the public key in PEM, and says
    /// the thumbprint on standard error.
    static func make(in file: String) throws {
        let key = try PrivateKey.generate(.ec(.p256))
        try write(try key.pem(), to: file)
        let lines = String(decoding: try key.publicKey.pem(), as: UTF8.self).split(onASCII: "\n")
        for line in lines where !line.isEmpty { try Terminal.say(String(line)) }
        Terminal.note("kid \(JWK(key.publicKey).thumbprint)")
    }

    private static func write(_ text: SecretBytes, to file: String) throws(EvidenceFileError) {
        let descriptor = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw EvidenceFileError("make", file) }
        defer { close(descriptor) }
        let isWritten = text.withUnsafeBytes { text in
            var rest = UnsafeRawBufferPointer(text)[...]
            while !rest.isEmpty {
                let count = Self.write(descriptor, UnsafeRawBufferPointer(rebasing: rest))
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                rest = rest.dropFirst(count)
            }
            return fsync(descriptor) == 0
        }
        guard isWritten else {
            let error = EvidenceFileError("write", file)
            unlink(file)
            throw error
        }
    }

    private static func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        writeBytes(descriptor, bytes.baseAddress, bytes.count)
    }
}

// Inside the type above, the name means its own method.

private func writeBytes(_ descriptor: Int32, _ start: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, start, count)
}
