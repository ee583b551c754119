internal import AssayCore
internal import AssayEngine
public import AssayYAML

/// What of the policies some tests look at.
public struct PolicyCoverage: Sendable {
    /// The kinds of what tests can look at.
    @nonexhaustive public enum Kind: String, Sendable, CaseIterable {
        /// A provider of an app: a test is about its evidence.
        case provider
        /// A rule: a test matches it, and another one comes to it and does not.
        case rule
        /// A demand of a rule on a fact: it holds in one test, and does not in another one.
        case condition
        /// A setting of a provider: a test with `device` ends otherwise without it.
        case setting
    }

    /// One of them.
    public struct Item: Sendable {
        /// What it is.
        public let kind: Kind
        /// What it is called: `app_attest of 1:1234567890:ios:321abc456def7890`, `old-ios`, `old-ios: os_version`.
        public let name: String
        /// Its place.
        public let location: SourceLocation
        /// In how many tests it matches or holds, is exercised or decides.
        public internal(set) var hits = 0
        /// In how many tests that come to it, it does not.
        public internal(set) var misses = 0
        /// Whether it can be without misses: a rule without conditions, a provider, a setting.
        public let needsHitsOnly: Bool

        /// Whether both ways were seen, or the only one that there is.
        public var isCovered: Bool { hits > 0 && (needsHitsOnly || misses > 0) }
    }

    /// All items, by kind, then in the order of their places.
    public let items: [Item]

    /// How many ways there are, and how many of them were seen: a rule has two, a provider one.
    ///
    /// Settings do not count: that a setting makes no difference is known only where a test tried it.
    public var ways: (seen: Int, all: Int) { ways { $0 != .setting } }

    /// The same for one kind.
    public func ways(of kind: Kind) -> (seen: Int, all: Int) { ways { $0 == kind } }

    /// The part of the ways that was seen, in whole percent, rounded down; 100 if there are none.
    public var percent: Int {
        let (seen, all) = ways
        return all == 0 ? 100 : seen * 100 / all
    }

    private func ways(_ isCounted: (Kind) -> Bool) -> (seen: Int, all: Int) {
        var (seen, all) = (0, 0)
        for item in items where isCounted(item.kind) {
            seen += (item.hits > 0 ? 1 : 0) + (!item.needsHitsOnly && item.misses > 0 ? 1 : 0)
            all += item.needsHitsOnly ? 1 : 2
        }
        return (seen, all)
    }
}
