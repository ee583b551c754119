public import AssayCore

extension SecretSource {
    /// The bytes of a secret that a section of a policy names and cannot do without.
    ///
    /// - Parameter path: the place of the reference in the section.
    /// - Throws: that it cannot be read, or is not set, at that place; nothing of the secret.
    public func required(
        _ reference: SecretReference, at path: [ConfigurationError.Component]
    ) throws(ConfigurationError) -> [UInt8] {
        let found: [UInt8]?
        do throws(SecretError) {
            found = try resolve(reference)
        } catch {
            throw ConfigurationError(at: path, error.message)
        }
        guard let found else { throw ConfigurationError(at: path, "\(reference) is not set") }
        return found
    }

    /// The same for a text that is sent to another server: 1 to 512 visible characters of ASCII.
    ///
    /// - Parameter path: the place of the reference in the section.
    /// - Throws: as ``required(_:at:)``, and for any other text.
    public func requiredText(
        _ reference: SecretReference, at path: [ConfigurationError.Component]
    ) throws(ConfigurationError) -> String {
        let bytes = try required(reference, at: path)
        guard (1...512).contains(bytes.count), bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw ConfigurationError(at: path, "\(reference) holds no secret of 1 to 512 visible characters of ASCII")
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
