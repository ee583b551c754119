/// The release that this is.
public enum AssayVersion {
    /// In the form of Semantic Versioning 2.0.0; the one place where it stands.
    public static let text = "0.2.0"
}
