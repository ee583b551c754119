/// Strong validators of resources (RFC 7232, section 2.3): another one whenever anything in the resource is another.
public enum ETag {
    /// The validator of a resource, in quotation marks.
    ///
    /// - Parameter digest: a digest of everything that the resource says, of 12 bytes or more.
    public static func of(digest: some Sequence<UInt8>) -> String {
        "\"\(Base64.encodeURL(Array(digest.prefix(12))))\""
    }

    /// Compares the version of a resource that a caller expects with the present one.
    ///
    /// - `stated`: nil when the caller does not care; `*` is any.
    /// - Throws: ``StatusCode/aborted`` when the resource is another by now (AIP-154).
    public static func check(_ stated: String?, is present: String) throws(CallFailure) {
        guard let stated, !stated.isExactly(present), !stated.isExactly("*") else { return }
        throw CallFailure(.aborted, "The resource has changed since: the etag does not match.")
    }
}
