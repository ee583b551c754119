public import AssayKit

extension FactName {
    /// The method of the request that a proxy asked about.
    public static let requestMethod: FactName = "request_method"
    /// Its path, without the query, as the proxy told it.
    public static let requestPath: FactName = "request_path"
}
