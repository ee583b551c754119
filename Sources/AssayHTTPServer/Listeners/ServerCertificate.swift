public import AssayCore
internal import AssayCrypto
package import NIOSSL
internal import Synchronization

/// The certificate of a listener for TLS, with its private key, from two files in PEM form.
///
/// The files can be read again while connections are open: those continue, and new ones get the new certificate.
/// Invalid files leave the present one in force.
public final class ServerCertificate: Sendable {
    /// The facts about the certificate in force.
    public struct Description: Sendable, Hashable {
        /// The SHA-256 fingerprint, in hexadecimal digits.
        @Exact public private(set) var fingerprint: String
        /// When it expires.
        public let expires: Instant
        /// The SHA-256 fingerprints of the authorities for client certificates; empty when clients need none.
        @Exact public private(set) var clientAuthorities: [String]
    }

    private struct Loaded {
        let context: NIOSSLContext
        let description: Description
    }

    private let certificateFile: String
    private let keyFile: String
    private let clientAuthorityFile: String?
    private let clock: HostClock
    private let loaded: Mutex<Loaded>

    /// Reads the files.
    ///
    /// - `certificateFile`: the certificate, followed by those of intermediate authorities.
    /// - `keyFile`: its private key, not encrypted. The file is judged as `SecretFile` says: its owner is root or the user of
    ///   this process, a group that this process is a member of may read it, and others have no rights on it.
    /// - `clientAuthorityFile`: the authorities of clients. When there is one, a client without a certificate that one of them
    ///   issued is refused in the handshake.
    /// - Throws: ``TLSError`` when they cannot be read, do not belong together, or the certificate is not valid now.
    public init(
        certificateFile: String, keyFile: String, clientAuthorityFile: String? = nil, clock: HostClock = .system
    ) throws(TLSError) {
        self.certificateFile = certificateFile
        self.keyFile = keyFile
        self.clientAuthorityFile = clientAuthorityFile
        self.clock = clock
        loaded = Mutex(
            try ServerCertificate.load(
                certificateFile: certificateFile, keyFile: keyFile, clientAuthorityFile: clientAuthorityFile,
                now: clock.now))
    }

    /// The files, which can be watched for changes.
    public var files: [String] { [certificateFile, keyFile] + [clientAuthorityFile].compactMap(\.self) }

    /// The facts about the certificate in force.
    public var description: Description { loaded.withLock { $0.description } }

    /// Reads the files again.
    ///
    /// - Throws: ``TLSError``, as the initialiser; the present certificate then stays in force.
    /// - Returns: whether the certificate has changed.
    @discardableResult
    public func reload() throws(TLSError) -> Bool {
        let new = try ServerCertificate.load(
            certificateFile: certificateFile, keyFile: keyFile, clientAuthorityFile: clientAuthorityFile, now: clock.now
        )
        return loaded.withLock { loaded in
            let isOther = loaded.description != new.description
            loaded = new
            return isOther
        }
    }

    /// The present certificate, for a connection that begins now.
    package var context: NIOSSLContext { loaded.withLock { $0.context } }

    private static func load(
        certificateFile: String, keyFile: String, clientAuthorityFile: String?, now: Instant
    ) throws(TLSError) -> Loaded {
        let certificateBytes = try PEMFile.read(certificateFile, isSecret: false)
        let keyBytes = try PEMFile.read(keyFile, isSecret: true)
        let chain: [NIOSSLCertificate]
        do {
            chain = try NIOSSLCertificate.fromPEMBytes(certificateBytes)
        } catch {
            throw TLSError("\(certificateFile) has no certificate in PEM form")
        }
        guard let leaf = chain.first else { throw TLSError("\(certificateFile) has no certificate in PEM form") }
        let expires = Instant(seconds: Int64(leaf.notValidAfter))
        guard now < expires else { throw TLSError("the certificate of \(certificateFile) expired at \(expires)") }
        let begins = Instant(seconds: Int64(leaf.notValidBefore))
        guard begins <= now else { throw TLSError("the certificate of \(certificateFile) is valid from \(begins) on") }
        let key: NIOSSLPrivateKey
        do {
            key = try NIOSSLPrivateKey(bytes: keyBytes, format: .pem)
        } catch {
            // OpenSSL's message might quote the key.
            throw TLSError("\(keyFile) has no private key in PEM form, or an encrypted one")
        }
        let authorities = try clientAuthorityFile.map(authorities) ?? []
        do {
            var configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
            configuration.minimumTLSVersion = .tlsv12
            configuration.applicationProtocols = ["h2", "http/1.1"]
            if !authorities.isEmpty {
                // Clients have no host names that could be compared.
                configuration.certificateVerification = .noHostnameVerification
                configuration.trustRoots = .certificates(authorities)
                configuration.sendCANameList = true
            }
            return Loaded(
                context: try NIOSSLContext(configuration: configuration),
                description: Description(
                    fingerprint: try PEMFile.fingerprint(leaf.toDERBytes()), expires: expires,
                    clientAuthorities: try authorities.map { try PEMFile.fingerprint($0.toDERBytes()) }))
        } catch {
            throw TLSError("the key of \(keyFile) does not match the certificate of \(certificateFile)")
        }
    }

    private static func authorities(_ file: String) throws(TLSError) -> [NIOSSLCertificate] {
        let bytes = try PEMFile.read(file, isSecret: false)
        guard let authorities = try? NIOSSLCertificate.fromPEMBytes(bytes), !authorities.isEmpty else {
            throw TLSError("\(file) has no certificate in PEM form")
        }
        return authorities
    }
}

/// Reads files in PEM form.
private enum PEMFile {
    private static let sizeLimit = 1 << 20

    /// The contents of a file; symbolic links are followed, because programs that renew certificates change them.
    ///
    /// - Parameter isSecret: whether the rule of `SecretFile` applies.
    static func read(_ path: String, isSecret: Bool) throws(TLSError) -> [UInt8] {
        do throws(SecretError) {
            return try SecretFile.read(path, limit: sizeLimit, isSecret: isSecret)
        } catch {
            throw TLSError(error.message)
        }
    }

    static func fingerprint(_ certificate: [UInt8]) -> String { Hex.encode(SHA256.hash(certificate)) }
}

/// The reason why a certificate or its key cannot be used.
public struct TLSError: Error, Sendable, CustomStringConvertible {
    /// The error, for an operator; nothing of the key's file.
    public let message: String

    init(_ message: String) {
        self.message = message
    }

    /// The message.
    public var description: String { message }
}
