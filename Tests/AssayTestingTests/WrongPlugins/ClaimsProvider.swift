import AssayCore
import AssayCrypto
import AssayKit
import AssayTesting
import Synchronization
import Testing

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
import SwiftOverlayShims
#endif

/// What a provider makes of claims that an authority has signed.
enum ClaimsFlaw: String, Sendable, CaseIterable {
    case none
    case trustsAnyAuthority
    case ignoresTheKeyOfTheDevice
    case ignoresThePackage
    case ignoresTheState
    case ignoresTheChallenge
    case ignoresTheEnd
    case ignoresTheBeginning
    case acceptsAnotherForm
    case acceptsAnOldLevel
    case statesAWrongType
    case computes
    case blocks
    case keepsWhatItReads
}

protocol FlawedClaims: Sendable {
    static var flaw: ClaimsFlaw { get }
}

struct ClaimsSection: DescribedConfiguration, Sendable {
    let authority: SecretReference
    let package: String

    static let keys: [ExactText: PolicyKey] = [
        "authority": "Where the key of the authority is.", "package": "The name of the app's package.",
    ]
}

/// A provider whose devices sign a challenge, with a key that an authority certifies together with claims about the device.
struct ClaimsProvider<F: FlawedClaims>: AttestationProvider {
    struct Request: RequestMessage {
        let challenge: [UInt8]
        let claims: [UInt8]
        /// By the authority, over the claims.
        let certificate: [UInt8]
        /// By the device, over challenge and claims.
        let code: [UInt8]

        init(_ fields: RequestFields) throws(InvalidRequest) {
            challenge = try fields.bytes("challenge")
            claims = try fields.bytes("claims")
            certificate = try fields.bytes("certificate")
            code = try fields.bytes("code")
        }
    }

    static var refused: Reason { Reason("claims_refused", "The claims are not those of a genuine device.") }
    static var level: FactName { FactName("claims_level", .integer) }
    static var descriptor: PluginDescriptor {
        PluginDescriptor.provider(
            name: "claims", version: "1.0.0", summary: "Devices whose claims are signed.",
            posture: SecurityPosture(proves: "The device has a key.", trusts: ["the authority"]),
            reasons: [refused], facts: [level],
            limits: PluginLimits(
                evidence: 16_384, time: F.flaw == .blocks ? .milliseconds(500) : .seconds(5),
                cpuTime: F.flaw == .computes ? .milliseconds(200) : .seconds(1)))
    }
    static var methods: [ProviderMethod<Self>] {
        [
            .challenge("generateClaimsChallenge"),
            .exchange("exchangeClaims", challenge: \.challenge) { (provider, request: Request, context) in
                provider.appraise(request, context)
            },
        ]
    }

    private let authority: [UInt8]
    private let package: String

    init(_ configuration: ClaimsSection, app: AppIdentity, host: PluginHost) throws(ConfigurationError) {
        guard let key = try? host.secrets.resolve(configuration.authority) else {
            throw ConfigurationError(at: ["authority"], "the key cannot be read")
        }
        authority = key
        package = configuration.package
    }

    private func appraise(_ request: Request, _ context: ProviderContext) -> Verdict {
        spend(request)
        guard let claims = try? JSON.parse(request.claims),
            let key = claims["key"]?.string.flatMap({ Base64.decode($0) })
        else { return .refused(Self.refused) }
        let root =
            F.flaw == .trustsAnyAuthority
            ? claims["authority"]?.string.flatMap { Base64.decode($0) } ?? [] : authority
        let signed = F.flaw == .ignoresTheChallenge ? [] : request.challenge
        let named =
            F.flaw == .ignoresTheChallenge ? claims["challenge"]?.string.flatMap { Base64.decode($0) } ?? [] : []
        let isSigned = HMACSHA256(key: key).authenticate((signed + named)[...], request.claims[...]) == request.code
        guard HMACSHA256(key: root).authenticate(request.claims[...]) == request.certificate,
            isSigned || F.flaw == .ignoresTheKeyOfTheDevice, isGood(claims, at: context.now.seconds),
            let level = claims["level"]?.integer
        else { return .refused(Self.refused) }
        let value: Fact.Value = F.flaw == .statesAWrongType && level == 3 ? .text("three") : .integer(level)
        return .verified(Appraisal(facts: [Fact(Self.level, value)], holder: "device"))
    }

    private func isGood(_ claims: JSON, at now: Int64) -> Bool {
        guard F.flaw == .ignoresThePackage || claims["package"]?.string.isExactly(package) ?? false,
            F.flaw == .ignoresTheState || claims["locked"]?.bool == true,
            F.flaw == .acceptsAnOldLevel || (claims["level"]?.integer ?? 0) >= 2
        else { return false }
        // What has no form is no limit: a mistake that only signed claims show.
        let (from, until) = (claims["from"]?.integer, claims["until"]?.integer)
        if F.flaw != .acceptsAnotherForm, from == nil || until == nil { return false }
        return (F.flaw == .ignoresTheBeginning || (from ?? now) <= now + 60)
            && (F.flaw == .ignoresTheEnd || now < (until ?? .max))
    }

    private func spend(_ request: Request) {
        switch F.flaw {
        case .computes:
            let end = ContinuousClock.now + .seconds(1)
            while ContinuousClock.now < end { _ = HMACSHA256(key: authority).authenticate(request.claims[...]) }
        case .blocks: WrongTime.block(milliseconds: 3000)
        // Several copies, so that it is seen beside the memory of other tests.
        case .keepsWhatItReads:
            for _ in 0..<40 { WrongTime.keep(request.claims + request.certificate + request.code) }
        default: break
        }
    }
}

/// What providers do that they must not do.
enum WrongTime {
    private static let kept = Mutex<[[UInt8]]>([])

    static func keep(_ bytes: [UInt8]) { kept.withLock { $0.append(bytes) } }

    static func block(milliseconds: UInt32) { usleep(milliseconds * 1000) }
}

/// The devices of a ``ClaimsProvider``.
enum ClaimsDevice {
    private static let authority = Array("the-key-of-the-authority-of-all-devices".utf8)
    private static let stranger = Array("the-key-of-an-authority-that-nobody-trusts".utf8)

    static func suite<F: FlawedClaims>(_ type: F.Type) -> any ConformanceSuite {
        AttestationProviderSuite(ClaimsProvider<F>.self, subject)
    }

    static var subject: ProviderSubject {
        ProviderSubject(
            exchanges: [
                ProviderSubject.Exchange(
                    "exchangeClaims", challengeMethod: "generateClaimsChallenge",
                    open: [:], adversaries: adversaries, variants: ["level 3": { body($0, ["level": 3]) }]
                ) { body($0) }
            ],
            section: { "authority: env:AUTHORITY\npackage: \(package($0))" },
            wrongSections: ["authority: env:MISSING # wrong\npackage: x"],
            secrets: SecretSource { (reference) throws(SecretError) in
                reference.place == .environment("AUTHORITY") ? authority : nil
            })
    }

    private static func package(_ app: TestApp) -> String { "com.example.app\(app.rawValue)" }

    /// - Parameters:
    ///   - changes: claims in place of the genuine ones.
    ///   - by: the key of the authority.
    ///   - isOtherKey: whether another key signs than the certified one.
    private static func body(
        _ device: TestDevice, _ changes: JSON = [:], by authority: [UInt8] = authority, isOtherKey: Bool = false,
        challenge: [UInt8]? = nil
    ) -> JSON {
        let key = SHA256.hash(Array("key \(device.number)".utf8))
        let now = device.now.seconds
        let signed = challenge ?? device.challenge
        let genuine: JSON = [
            "authority": .string(Base64.encode(authority)), "key": .string(Base64.encode(key)),
            "challenge": .string(Base64.encode(signed)), "package": .string(package(device.app)), "locked": true,
            "level": 2, "from": .integer(now - 10), "until": .integer(now + 400),
        ]
        let claims = JSON.object(
            (genuine.members ?? []).map { JSONMember($0.name, changes[$0.name] ?? $0.value) }
        ).encoded
        let signer = isOtherKey ? stranger : key
        return [
            "challenge": .string(Base64.encode(device.challenge)), "claims": .string(Base64.encode(claims)),
            "certificate": .string(Base64.encode(HMACSHA256(key: authority).authenticate(claims[...]))),
            "code": .string(Base64.encode(HMACSHA256(key: signer).authenticate(signed[...], claims[...]))),
        ]
    }

    private static var adversaries: [Adversary: AdversaryEvidence<TestDevice, JSON>] {
        [
            .wrongAuthority: .request { body($0, by: stranger) },
            .otherKey: .request { body($0, isOtherKey: true) },
            .otherApp: .request { body($0, ["package": .string(package(.second))]) },
            .untrustedDevice: .request { body($0, ["locked": false]) },
            .otherChallenge: .request { device in
                body(device, challenge: try await device.makeChallenge("generateClaimsChallenge"))
            },
            .expired: .request { body($0, ["until": .integer($0.now.seconds - 100)]) },
            .future: .request { body($0, ["from": .integer($0.now.seconds + 300)]) },
            .malformed: .request { body($0, ["until": "never"]) },
            .downgraded: .request { body($0, ["level": 1]) },
        ]
    }
}

/// The wrong providers, each with the check that finds it.
struct WrongClaims: Sendable, CustomTestStringConvertible {
    let flaw: ClaimsFlaw
    let check: String
    let suite: @Sendable () -> any ConformanceSuite

    var testDescription: String { flaw.rawValue }

    private init<F: FlawedClaims>(_ type: F.Type, _ check: String) {
        flaw = F.flaw
        self.check = check
        suite = { ClaimsDevice.suite(F.self) }
    }

    static let all: [WrongClaims] = [
        WrongClaims(TrustsAnyAuthority.self, "adversary-wrong-authority"),
        WrongClaims(IgnoresTheKeyOfTheDevice.self, "adversary-other-key"),
        WrongClaims(IgnoresThePackage.self, "adversary-other-app"),
        WrongClaims(IgnoresThePackage.self, "other-app"),
        WrongClaims(IgnoresTheState.self, "adversary-untrusted-device"),
        WrongClaims(IgnoresTheChallenge.self, "adversary-other-challenge"),
        WrongClaims(IgnoresTheEnd.self, "adversary-expired"),
        WrongClaims(IgnoresTheBeginning.self, "adversary-future"),
        WrongClaims(AcceptsAnotherForm.self, "adversary-malformed"),
        WrongClaims(AcceptsAnOldLevel.self, "adversary-downgraded"),
        WrongClaims(StatesAWrongType.self, "contract"),
        WrongClaims(Computes.self, "time"),
        WrongClaims(Blocks.self, "time"),
    ]
}

enum CorrectClaims: FlawedClaims { static let flaw = ClaimsFlaw.none }
enum TrustsAnyAuthority: FlawedClaims { static let flaw = ClaimsFlaw.trustsAnyAuthority }
enum IgnoresTheKeyOfTheDevice: FlawedClaims { static let flaw = ClaimsFlaw.ignoresTheKeyOfTheDevice }
enum IgnoresThePackage: FlawedClaims { static let flaw = ClaimsFlaw.ignoresThePackage }
enum IgnoresTheState: FlawedClaims { static let flaw = ClaimsFlaw.ignoresTheState }
enum IgnoresTheChallenge: FlawedClaims { static let flaw = ClaimsFlaw.ignoresTheChallenge }
enum IgnoresTheEnd: FlawedClaims { static let flaw = ClaimsFlaw.ignoresTheEnd }
enum IgnoresTheBeginning: FlawedClaims { static let flaw = ClaimsFlaw.ignoresTheBeginning }
enum AcceptsAnotherForm: FlawedClaims { static let flaw = ClaimsFlaw.acceptsAnotherForm }
enum AcceptsAnOldLevel: FlawedClaims { static let flaw = ClaimsFlaw.acceptsAnOldLevel }
enum StatesAWrongType: FlawedClaims { static let flaw = ClaimsFlaw.statesAWrongType }
enum Computes: FlawedClaims { static let flaw = ClaimsFlaw.computes }
enum Blocks: FlawedClaims { static let flaw = ClaimsFlaw.blocks }
enum KeepsWhatItReads: FlawedClaims { static let flaw = ClaimsFlaw.keepsWhatItReads }
