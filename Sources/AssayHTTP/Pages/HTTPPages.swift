public import AssayKit

/// What a listener shows beside methods: `/livez` and `/healthz` (the process answers), `/readyz` (it can do its work), and
/// `/metrics`.
///
/// Detail is for operators: reasons name files and apps, and metrics count by project. A listener that strangers reach shows
/// neither.
public struct HTTPPages: Sendable {
    /// Whether the pages about health are shown.
    public var showsHealth: Bool
    /// Whether `/readyz` says why; without it the status code is all that it tells.
    public var showsDetail: Bool
    /// What `/readyz` asks beside the handler; the worst answer is shown.
    public var checks: [@Sendable () async -> Readiness]
    /// Makes the page of metrics in the format that a client asks for with its `Accept` header, which is empty when there
    /// was none. Without it there is no such page.
    public var metrics: (@Sendable (_ accept: String) -> HTTPPage)?

    public init(
        showsHealth: Bool = true, showsDetail: Bool = false, checks: [@Sendable () async -> Readiness] = [],
        metrics: (@Sendable (_ accept: String) -> HTTPPage)? = nil
    ) {
        self.showsHealth = showsHealth
        self.showsDetail = showsDetail
        self.checks = checks
        self.metrics = metrics
    }

    /// The pages about health, without detail.
    public static let health = HTTPPages()
    /// No page at all.
    public static let none = HTTPPages(showsHealth: false)
}

extension HTTPPages {
    /// These pages for a listener that strangers reach.
    public var withoutDetail: HTTPPages { HTTPPages(showsHealth: showsHealth, checks: checks) }
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
