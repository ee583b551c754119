/// The release that this is.
public enum AssayVersion {
    /// The version in the form of Semantic Versioning 2.0.0, set only here.
    public static let text = "0.3.0"
}
