#if Simulator
internal import ArgumentParser
internal import AssayCore
internal import AssayCrypto
internal import AssayTesting
internal import Synchronization

/// Which devices make a load.
enum LoadPlatform: String, ExpressibleByArgument, CaseIterable, Sendable {
    /// With App Attest.
    case apple
    /// With keys of Android.
    case android
}

/// Simulated devices of one platform, and the methods that they call.
struct LoadDevices: Sendable {
    /// A new key of a device.
    struct Key: Sendable {
        /// The request message that attests it.
        let attestation: JSON
        /// Signs for an artifact and a challenge, by a counter that rises.
        let sign: @Sendable (_ artifact: [UInt8], _ challenge: [UInt8]) throws -> [UInt8]
    }

    /// The names of the methods, without the app.
    struct Methods: Sendable {
        let challenge: String
        let attestation: String
        let assertion: String
    }

    let methods: Methods
    /// Makes a key for a challenge.
    let makeKey: @Sendable (_ challenge: [UInt8]) throws -> Key

    /// Devices with App Attest.
    static func apple(_ authority: SimulatedAppleCA, bundle: String) -> LoadDevices {
        let device = SimulatedDevice(authority: authority)
        let app = SimulatedApp(appID: bundle, environment: .production)
        return LoadDevices(
            methods: Methods(
                challenge: "generateAppAttestChallenge", attestation: "exchangeAppAttestAttestation",
                assertion: "exchangeAppAttestAssertion")
        ) { challenge in
            let keyID = try device.generateKey()
            let statement = try device.attestKey(
                keyID, clientDataHash: SHA256.hash(challenge), app: app, at: HostClock.system.now)
            return Key(
                attestation: [
                    "keyId": .string(keyID), "attestationStatement": .string(Base64.encode(statement)),
                    "challenge": .string(Base64.encode(challenge)),
                ]
            ) { artifact, challenge in
                try device.generateAssertion(keyID, clientDataHash: SHA256.hash(artifact, challenge), app: app)
            }
        }
    }

    /// Devices with Android, each with a certificate of its own.
    static func android(_ authority: SimulatedAndroidAuthority, package: String) -> LoadDevices {
        var state = SimulatedAndroidState()
        state.package = package
        return LoadDevices(
            methods: Methods(
                challenge: "generateAndroidKeyChallenge", attestation: "exchangeAndroidKeyAttestation",
                assertion: "exchangeAndroidKeyAssertion")
        ) { [state] challenge in
            let key = try authority.device(state).makeKey(challenge: challenge)
            let counter = Counter()
            return Key(
                attestation: [
                    "attestationChain": .array(key.chain.map { .string(Base64.encode($0)) }),
                    "challenge": .string(Base64.encode(challenge)),
                ]
            ) { artifact, challenge in
                try key.assertion(package: package, counter: counter.next(), of: artifact + challenge)
            }
        }
    }

    private final class Counter: Sendable {
        private let last = Atomic<UInt32>(0)

        func next() -> UInt32 { last.wrappingAdd(1, ordering: .relaxed).newValue }
    }
}
#endif
