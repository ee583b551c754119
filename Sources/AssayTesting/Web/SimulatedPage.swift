public import AssayCore

/// A page or an app, and its user, whose tokens a simulated service makes.
public struct SimulatedPage: Sendable {
    /// The host of the page; nil for an app.
    @Exact public var hostname: String?
    /// What the token is made for.
    @Exact public var action: String
    /// How far the service takes the user for a person: from 0, surely a program, to 1; nil if it gives no score.
    public var score: Double?
    /// What the service says of the risk.
    @Exact public var risks: [String]
    /// The package of an app for Android.
    @Exact public var androidPackage: String?
    /// The bundle identifier of an app for Apple's systems.
    @Exact public var bundleID: String?
    /// When the token is made.
    public var made: Instant

    /// The page of a genuine user.
    public init(hostname: String? = "example.com", made: Instant) {
        self.hostname = hostname
        self.made = made
        action = "fire_app_check"
        score = 0.9
        risks = []
        androidPackage = nil
        bundleID = nil
    }
}
