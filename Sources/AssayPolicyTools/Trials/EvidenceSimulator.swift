public import AssayCore
internal import AssayEngine
public import AssayKit

/// Makes the evidence of simulated devices for tests of policies: `device` and `change` of a test.
///
/// It belongs to a provider's conformance suite (`ProviderSubject.simulator`). Only ``PolicyTests`` uses it: a server has no way
/// to trust a simulated authority but its policies.
public protocol EvidenceSimulator: Sendable {
    /// The provider's name in policies.
    var provider: String { get }
    /// The provider's methods that exchange evidence; a test that names none gets the first.
    var methods: [String] { get }
    /// What a test can say of a device.
    var properties: [EvidenceProperty] { get }
    /// How a test can have evidence changed.
    var changes: [EvidenceChange] { get }

    /// Makes a device for one test, and what its provider trusts.
    ///
    /// - Throws: why there is no such device, in words.
    func begin(_ order: EvidenceOrder) throws -> EvidenceSession
}

/// Something that a test can say of a device, such as `os_version`.
public struct EvidenceProperty: Sendable {
    /// The name with the type of its values.
    public let name: FactName
    /// One sentence for people.
    public let summary: String

    /// Describes a property.
    public init(_ name: FactName, _ summary: String) {
        self.name = name
        self.summary = summary
    }
}

/// A part of the evidence that a test can have changed, such as `challenge`, in one of some ways.
public struct EvidenceChange: Sendable {
    /// The part.
    public let name: String
    /// The ways, each a word.
    public let ways: [String]
    /// The methods whose evidence has the part; nil for all.
    public let methods: [String]?
    /// One sentence for people.
    public let summary: String

    /// Describes a change.
    public init(_ name: String, _ ways: [String], of methods: [String]? = nil, _ summary: String) {
        self.name = name
        self.ways = ways
        self.methods = methods
        self.summary = summary
    }
}

/// A device that a test describes.
public struct EvidenceOrder: Sendable {
    /// The app that evidence is for.
    public let app: AppIdentity
    /// The provider's section of the policies, as it is written.
    public let section: JSON
    /// The method that is called.
    public let method: String
    /// What the test says of the device.
    public let device: [ExactText: Fact.Value]
    /// What the test changes, and how.
    public let changes: [ExactText: ExactText]
    /// When the evidence is sent.
    public let now: Instant

    /// The text of a property; nil when the test does not say it.
    public func text(_ property: String) -> String? {
        if case .text(let text)? = device[property] { text } else { nil }
    }

    /// The whole number of a property; nil when the test does not say it.
    public func integer(_ property: String) -> Int64? {
        if case .integer(let number)? = device[property] { number } else { nil }
    }

    /// The truth value of a property; nil when the test does not say it.
    public func bool(_ property: String) -> Bool? {
        if case .bool(let value)? = device[property] { value } else { nil }
    }

    /// The duration of a property; nil when the test does not say it.
    public func duration(_ property: String) -> Duration? {
        if case .duration(let duration)? = device[property] { duration } else { nil }
    }

    /// Whether the test changes a part in this way.
    public func changes(_ part: String, _ way: String) -> Bool {
        changes[part].map { $0.string.isExactly(way) } ?? false
    }
}

/// What one test runs with: a device, and what its provider trusts meanwhile.
public struct EvidenceSession: Sendable {
    /// The keys that take the place of those in the provider's section; `null` takes a key away.
    public var overlay: JSON
    /// The secrets of the provider, made up; one that is missing keeps the test from running.
    public var secrets: SecretSource
    /// When the test begins; time passes until the evidence is sent.
    public var start: Instant
    /// The answers of other servers; nil for a provider that calls none.
    public var upstream: (@Sendable (OutboundRequest) async -> OutboundResponse)?
    /// Makes the body of the request.
    public var request: @Sendable (EvidenceCalls) async throws -> JSON

    /// Describes a session.
    public init(
        overlay: JSON = [:], secrets: SecretSource = SecretSource { _ in nil }, start: Instant,
        upstream: (@Sendable (OutboundRequest) async -> OutboundResponse)? = nil,
        request: @escaping @Sendable (EvidenceCalls) async throws -> JSON
    ) {
        self.overlay = overlay
        self.secrets = secrets
        self.start = start
        self.upstream = upstream
        self.request = request
    }
}

/// What a device can do before it sends its evidence.
public struct EvidenceCalls: Sendable {
    /// Makes a call for the app, such as an attestation before an assertion, and returns its reply.
    ///
    /// It throws when the call is refused.
    public let call: @Sendable (_ method: String, _ body: JSON) async throws -> JSON
    /// Lets time pass.
    public let pass: @Sendable (Duration) -> Void

    /// Asks for a challenge.
    public func challenge(_ method: String) async throws -> [UInt8] {
        guard let bytes = try await call(method, [:])["challenge"]?.string.flatMap({ Base64.decode($0) }) else {
            throw SimulatedCallRefused(description: "\(method) gives no challenge")
        }
        return bytes
    }
}

/// A call that a simulated device makes before its evidence, and that was not answered.
struct SimulatedCallRefused: Error, CustomStringConvertible {
    let description: String
}

/// A conformance suite that has a simulator for tests of policies.
public protocol SimulatingSuite: ConformanceSuite {
    /// The simulator; nil for a provider without one.
    var simulator: (any EvidenceSimulator)? { get }
}
