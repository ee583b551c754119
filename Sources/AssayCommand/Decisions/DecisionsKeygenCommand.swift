internal import ArgumentParser
internal import AssayCore
internal import AssayCrypto

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// `assay decisions keygen`.
struct DecisionsKeygenCommand: ParsableCommand {
    static var configuration: CommandConfiguration {
        let program = AssayProgram.current.name
        return CommandConfiguration(
            commandName: "keygen", abstract: "Make the key pair for captured evidence.",
            discussion: """
                Writes the private key to FILE, a new file with the mode 0600 (PKCS #8 in PEM, P-256), and prints the public \
                key in PEM, for `capture.public_key` in the policies. The key's identifier, which records have as `kid`, \
                goes to standard error.

                Make it on the machine where evidence is read, not on the server: anyone who has the private key can read what \
                clients sent. `\(program) decisions replay` and `\(program) verify record` take it with --key; other tools read \
                it, too: records are JWE (RFC 7516).
                """)
    }

    @Argument(help: "The new file of the private key.")
    var file: String

    func run() throws {
        do {
            let key = try PrivateKey.generate(.ec(.p256))
            try Self.write(try key.pem(), to: file)
            let lines = String(decoding: try key.publicKey.pem(), as: UTF8.self).split(onASCII: "\n")
            for line in lines where !line.isEmpty { try Terminal.say(String(line)) }
            Terminal.complain("kid \(JWK(key.publicKey).thumbprint)")
        } catch let error as OutputError {
            throw error
        } catch {
            Terminal.report(error)
            throw ExitCode.couldNotRun
        }
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
