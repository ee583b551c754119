import AssayCore
import AssayCrypto
import AssayTestSupport
import Testing

@testable import AssayAndroidKey

/// The certificates of real devices, judged when they were made.
@Suite("Android keys of real devices", .enabled(if: AndroidFixture.isPresent, Comment(rawValue: SharedFiles.absence)))
struct FixtureTests {
    private static let list: RevocationList = {
        do {
            return try RevocationList(json: SharedFiles.bytes("fixtures/android/revocation/status-snapshot.json"))
        } catch {
            fatalError("\(error)")
        }
    }()

    private func verdict(_ fixture: AndroidFixture, _ certificates: [[UInt8]]? = nil) -> AndroidKeyRefusal? {
        do {
            _ = try fixture.judge(certificates ?? fixture.certificates, Self.list, at: fixture.time)
            return nil
        } catch {
            return error
        }
    }

    @Test("A strict policy accepts the devices that it should, and refuses the others", arguments: AndroidFixture.all)
    func verdicts(_ fixture: AndroidFixture) {
        let refusal = verdict(fixture)
        #expect(
            (refusal == nil) == fixture.isAccepted,
            "\(refusal.map { "\($0.reason.code): \($0.detail ?? "")" } ?? "accepted")")
        let why = fixture.facts["refuse_because"]?.array?.compactMap(\.string) ?? []
        if why == ["revoked serial"] { #expect(refusal?.reason == AndroidKeyReasons.revoked) }
        if why.first == "bootloader unlocked" { #expect(refusal?.reason == AndroidKeyReasons.unlocked) }
    }

    @Test("What is read equals what other software read", arguments: AndroidFixture.all)
    func facts(_ fixture: AndroidFixture) throws {
        // What the other software could not read, and what must not be read.
        guard let expected = fixture.description, expected.members != nil,
            !fixture.name.contains("malformed_rot_device_locked")
        else { return }
        guard let chain = try? AndroidChain(der: fixture.certificates) else {
            // One certificate alone, or a software root with a short key.
            #expect(fixture.facts["google_root"]?.string == nil)
            return
        }
        let found = chain.description
        let levels = ["Software": 0, "TrustedEnvironment": 1, "StrongBox": 2]
        #expect(found.version == expected["attestationVersion"]?.integer.map { Int($0) })
        #expect(found.keyMintVersion == expected["keyMintVersion"]?.integer.map { Int($0) })
        #expect(found.attestationLevel.rawValue == levels[expected["attestationSecurityLevel"]?.string ?? ""])
        #expect(found.keyLevel.rawValue == levels[expected["keyMintSecurityLevel"]?.string ?? ""])
        #expect(found.challenge == fixture.challenge)
        #expect((chain.provisioning == .remote) == (fixture.facts["rkp"]?.bool ?? false) || !fixture.isAccepted)
        for (list, json) in [
            (found.software, expected["softwareEnforced"]), (found.hardware, expected["hardwareEnforced"]),
        ] {
            #expect(list.purposes == json?["purpose"]?.array?.compactMap { $0.integer.map { Int($0) } } ?? [])
            for (value, name) in [
                (list.algorithm, "algorithm"), (list.keySize, "keySize"), (list.origin, "origin"),
                (list.osVersion, "osVersion"), (list.osPatchLevel, "osPatchLevel"),
                (list.vendorPatchLevel, "vendorPatchLevel"), (list.bootPatchLevel, "bootPatchLevel"),
            ] {
                #expect(value == json?[name]?.integer.map { Int($0) }, "\(name)")
            }
            #expect(list.needsNoAuthentication == json?["noAuthRequired"]?.bool ?? false)
            let root = json?["rootOfTrust"]
            #expect(list.rootOfTrust.map { Hex.encode($0.bootKey) } == root?["verifiedBootKey"]?.string)
            #expect(list.rootOfTrust?.isLocked == root?["deviceLocked"]?.bool)
            let state = list.rootOfTrust.map { ["Verified", "SelfSigned", "Unverified", "Failed"][$0.state.rawValue] }
            #expect(state == root?["verifiedBootState"]?.string)
            let application = json?["attestationApplicationId"]
            #expect(
                list.application?.packages.map { String(decoding: $0.name, as: UTF8.self) }
                    == application?["packages"]?.array?.compactMap { $0["name"]?.string })
            #expect(
                list.application?.packages.map(\.version)
                    == application?["packages"]?.array?.compactMap { $0["version"]?.integer })
            #expect(
                list.application?.signingDigests.map { Hex.encode($0) }
                    == application?["signatureDigests"]?.array?.compactMap(\.string))
            #expect(list.unknownTags == [])
        }
    }

    @Test("No change of any byte of a chain is accepted", arguments: AndroidFixture.all.filter(\.isAccepted).prefix(20))
    func changes(_ fixture: AndroidFixture) {
        #expect(verdict(fixture) == nil)
        for position in fixture.certificates.indices {
            for index in fixture.certificates[position].indices {
                var certificates = fixture.certificates
                certificates[position][index] ^= 1 << UInt8(index % 8)
                #expect(verdict(fixture, certificates) != nil, "certificate \(position), byte \(index)")
            }
        }
    }

    @Test(
        "A chain without its root, in another order, or extended by an attested key",
        arguments: AndroidFixture.all.filter(\.isAccepted))
    func order(_ fixture: AndroidFixture) {
        let chain = fixture.certificates
        #expect(verdict(fixture, chain.dropLast()) == nil, "the root is known")
        #expect(verdict(fixture, chain.reversed()) != nil)
        #expect(verdict(fixture, [chain[0], chain[2], chain[1]] + chain.dropFirst(3)) != nil)
        #expect(verdict(fixture, [chain[0]] + chain)?.reason == AndroidKeyReasons.chainExtended)
        // As the last certificate below the root it would tell that the device is from a factory, where certificates do not end.
        #expect(verdict(fixture, chain + [chain[chain.count - 1]])?.reason == AndroidKeyReasons.pathInvalid)
        #expect(verdict(fixture, [chain[0]]) != nil)
    }

    @Test("Certificates of two devices are no chain")
    func splices() {
        let accepted = AndroidFixture.all.filter(\.isAccepted)
        for (one, other) in zip(accepted, accepted.dropFirst()) {
            #expect(verdict(one, [one.certificates[0]] + other.certificates.dropFirst()) != nil)
        }
    }
}
