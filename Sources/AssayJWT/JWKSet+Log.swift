package import AssayCrypto
package import Logging

extension JWKSet {
    /// How many of the skipped keys a line of the log describes.
    private static let describedCount = 8

    /// Says in one line of the log which keys of a document are not used, and why; nothing where all are used.
    ///
    /// - Parameter source: where the document is from.
    package func logSkipped(of source: String, to logger: Logger) {
        guard !skipped.isEmpty else { return }
        let described = skipped.prefix(Self.describedCount).map(\.description).joined(separator: "; ")
        logger.warning(
            "keys of an issuer cannot be used and are skipped",
            metadata: [
                "source": "\(source)", "skipped": "\(skipped.count)", "used": "\(keys.count)",
                "problems": "\(described)",
            ])
    }
}
