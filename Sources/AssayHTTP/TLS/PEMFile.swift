internal import AssayCrypto
internal import AssayKit

/// Reads files in PEM form.
enum PEMFile {
    private static let sizeLimit = 1 << 20

    /// The contents of a file; symbolic links are followed, as those who renew certificates point them elsewhere.
    ///
    /// - Parameter isSecret: whether the file is judged as ``SecretFile`` says.
    static func read(_ path: String, isSecret: Bool) throws(TLSError) -> [UInt8] {
        do throws(SecretError) {
            return try SecretFile.read(path, limit: sizeLimit, isSecret: isSecret)
        } catch {
            throw TLSError(error.message)
        }
    }

    static func fingerprint(_ certificate: [UInt8]) -> String { Hex.encode(SHA256.hash(certificate)) }
}
