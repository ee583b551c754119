internal import AssayCore
public import AssayHosting
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
    /// Makes the page of metrics in the format that a client asks for with its `Accept` header, which is empty when
    /// there was none.
    ///
    /// Without it there is no such page.
    public var metrics: (@Sendable (_ accept: String) -> HTTPPage)?

    /// The pages about health, unless given.
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
    /// The media type of the body.
    public let contentType: String
    /// The bytes of the page.
    public let body: [UInt8]

    /// Makes a page.
    public init(contentType: String, body: [UInt8]) {
        self.contentType = contentType
        self.body = body
    }
}

/// A handler without its methods, for a listener that serves only pages.
public struct PagesOnly: CallHandler {
    private let handler: any CallHandler

    /// Hides the methods of a handler.
    public init(_ handler: any CallHandler) {
        self.handler = handler
    }

    /// None.
    public var methods: [MethodDescriptor] { [] }

    /// Answers that there is no such method: no request is routed here.
    public func handle(_ call: Call) async -> Reply {
        Reply(
            decision: DecisionID(now: HostClock.system.now, randomness: .system),
            result: .failure(CallFailure(.notFound, "Method not found.")))
    }

    /// That of the handler.
    public var readiness: Readiness {
        get async { await handler.readiness }
    }
}
