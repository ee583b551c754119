public import AssayKit

/// What a listener shows to operators: `/livez` and `/healthz` (the process answers), `/readyz` (it can do its work), and
/// `/metrics`.
public struct HTTPPages: Sendable {
    /// Whether the pages about health are shown.
    public var showsHealth: Bool
    /// What `/readyz` asks beside the handler; the worst answer is shown.
    public var checks: [@Sendable () async -> Readiness]
    /// Makes the page of metrics in the format that a client asks for with its `Accept` header, which is empty when there
    /// was none. Without it there is no such page.
    public var metrics: (@Sendable (_ accept: String) -> HTTPPage)?

    public init(
        showsHealth: Bool = true, checks: [@Sendable () async -> Readiness] = [],
        metrics: (@Sendable (_ accept: String) -> HTTPPage)? = nil
    ) {
        self.showsHealth = showsHealth
        self.checks = checks
        self.metrics = metrics
    }

    /// The pages about health and no more.
    public static let health = HTTPPages()
    /// No page at all, because they are served elsewhere.
    public static let none = HTTPPages(showsHealth: false)
}

/// A page as it is sent.
public struct HTTPPage: Sendable {
    public let contentType: String
    public let body: [UInt8]

    public init(contentType: String, body: [UInt8]) {
        self.contentType = contentType
        self.body = body
    }
}
