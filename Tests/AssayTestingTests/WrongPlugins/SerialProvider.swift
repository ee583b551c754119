import AssayCore
import AssayCrypto
import AssayKit
import AssayTesting
import Synchronization

/// How a provider fails to use up evidence whose challenge the kernel does not store.
enum UseFlaw: String, Sendable, CaseIterable {
    case none, usesARandomName, forgetsTooEarly, forgetsWithTheChallenge, usesSomeEvidence
}

protocol UsesEvidence: Sendable {
    static var flaw: UseFlaw { get }
}

enum UsesEachSerial: UsesEvidence { static let flaw = UseFlaw.none }
enum UsesARandomName: UsesEvidence { static let flaw = UseFlaw.usesARandomName }
enum ForgetsTooEarly: UsesEvidence { static let flaw = UseFlaw.forgetsTooEarly }
enum ForgetsWithTheChallenge: UsesEvidence { static let flaw = UseFlaw.forgetsWithTheChallenge }
enum UsesSomeEvidence: UsesEvidence { static let flaw = UseFlaw.usesSomeEvidence }

struct SerialSection: DescribedConfiguration, Sendable {
    let key: SecretReference

    static let keys: [ExactText: PolicyKey] = ["key": "Where the key of the devices is."]
}

/// A provider whose devices authenticate a challenge with a serial number that they use once.
struct SerialProvider<F: UsesEvidence>: AttestationProvider {
    struct Request: RequestMessage {
        let challenge: [UInt8]
        let serial: String
        let code: [UInt8]

        init(_ fields: RequestFields) throws(InvalidRequest) {
            challenge = try fields.bytes("challenge")
            serial = try fields.string("serial")
            code = try fields.bytes("code")
        }
    }

    static var refused: Reason { Reason("serial_refused", "The code is not that of the device.") }
    static var used: Reason { Reason("serial_used", "The serial number was used before.") }
    static var descriptor: PluginDescriptor {
        PluginDescriptor.provider(
            name: "serial", version: "1.0.0", summary: "Devices with serial numbers.",
            posture: SecurityPosture(proves: "The device has the key.", trusts: ["everyone who has the key"]),
            reasons: [refused, used], facts: [], limits: PluginLimits(evidence: 2048))
    }
    static var methods: [ProviderMethod<Self>] {
        [
            .challenge("generateSerialChallenge"),
            .exchange("exchangeSerial", challenge: \.challenge, storesChallenge: false) {
                (provider, request: Request, context) in
                provider.appraise(request, context)
            },
        ]
    }

    private let key: HMACSHA256
    private let app: String
    private let randomness: Randomness

    init(_ configuration: SerialSection, app: AppIdentity, host: PluginHost) throws(ConfigurationError) {
        guard let bytes = try? host.secrets.resolve(configuration.key) else {
            throw ConfigurationError(at: ["key"], "the key cannot be read")
        }
        key = HMACSHA256(key: bytes)
        self.app = app.subject
        randomness = host.randomness
    }

    private func appraise(_ request: Request, _ context: ProviderContext) -> Verdict {
        guard let serial = UInt64(request.serial), request.serial.isExactly("\(serial)"),
            key.authenticate(request.challenge[...], Array("\(app) \(request.serial)".utf8)[...]) == request.code
        else { return .refused(Self.refused) }
        let isUsed = F.flaw != .usesSomeEvidence || !serial.isMultiple(of: 4)
        let name = F.flaw == .usesARandomName || !isUsed ? Hex.encode(randomness.bytes(16)) : "\(serial)"
        let memory: Duration =
            switch F.flaw {
            case .forgetsTooEarly: .seconds(200)
            // The challenge was made by a server whose clock may be ahead.
            case .forgetsWithTheChallenge: .seconds(300)
            case .none, .usesARandomName, .usesSomeEvidence: .seconds(600)
            }
        let use = EvidenceUse(
            context.appState.inserting(name, expires: context.now + memory, isListed: false), otherwise: Self.used)
        return .verified(Appraisal(facts: [], holder: "device", uses: [use]))
    }
}

/// The devices of a ``SerialProvider``.
enum SerialDevice {
    private static let key = Array("a-key-of-all-devices-with-serial-numbers".utf8)
    private static let numbers = Mutex(0)

    static func suite<F: UsesEvidence>(_ type: F.Type) -> any ConformanceSuite {
        AttestationProviderSuite(
            SerialProvider<F>.self,
            ProviderSubject(
                exchanges: [
                    ProviderSubject.Exchange(
                        "exchangeSerial", challengeMethod: "generateSerialChallenge", adversaries: adversaries
                    ) { body($0) }
                ],
                section: { _ in "key: env:DEVICES" }, wrongSections: ["key: env:MISSING # wrong"],
                secrets: SecretSource { (reference) throws(SecretError) in
                    reference.place == .environment("DEVICES") ? key : nil
                }))
    }

    private static func body(
        _ device: TestDevice, by key: [UInt8] = key, app: TestApp? = nil, challenge: [UInt8]? = nil,
        prefix: String = ""
    ) -> JSON {
        let number = numbers.withLock { numbers in
            numbers += 1
            return numbers
        }
        let serial = "\(prefix)\(number)"
        let text = Array("\((app ?? device.app).id()) \(serial)".utf8)
        let code = HMACSHA256(key: key).authenticate((challenge ?? device.challenge)[...], text[...])
        return [
            "challenge": .string(Base64.encode(device.challenge)), "serial": .string(serial),
            "code": .string(Base64.encode(code)),
        ]
    }

    private static var adversaries: [Adversary: AdversaryEvidence<TestDevice, JSON>] {
        [
            .wrongAuthority: .impossible("no authority certifies a device"),
            .otherKey: .request { body($0, by: [1, 2, 3]) },
            .otherApp: .request { body($0, app: .second) },
            .untrustedDevice: .impossible("a serial number says nothing of the device's state"),
            .otherChallenge: .request { device in
                body(device, challenge: try await device.makeChallenge("generateSerialChallenge"))
            },
            .expired: .impossible("a serial number has no time"), .future: .impossible("a serial number has no time"),
            .malformed: .request { body($0, prefix: "0") },
            .downgraded: .impossible("there is one algorithm"),
        ]
    }
}
