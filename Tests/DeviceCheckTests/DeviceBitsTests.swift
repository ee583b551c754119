import AssayCore
import AssayDeviceCheck
import AssayKit
import AssayTesting
import Testing

/// The rule, the bits that are set (nil: never), and whether the device is refused.
private let rules: [(String, (Bool, Bool)?, Bool)] = [
    ("bit0: true", nil, false), ("bit0: false", nil, true), ("bit0: true, bit1: false", nil, false),
    ("bit0: true", (true, false), true), ("bit0: true", (true, true), true), ("bit0: true", (false, true), false),
    ("bit1: true", (false, true), true), ("bit1: true", (true, false), false),
    ("bit0: true, bit1: true", (true, false), false), ("bit0: true, bit1: true", (true, true), true),
    ("bit0: false, bit1: true", (false, true), true), ("bit0: false, bit1: true", (true, true), false),
]

/// Answers to a question for bits that do not tell them.
private let unclear: [String] = [
    "", "yes", "{}", #"{"bit0":true}"#, #"{"bit0":1,"bit1":0}"#, #"{"bit0":"true","bit1":"false"}"#,
    #"{"bit0":true,"bit0":false,"bit1":false}"#, "[true,false]", "Failed to find", String(repeating: "[", count: 4000),
]

private let unset = ["Failed to find bit state", "failed to find bit state\n", " Bit State Not Found "]

@Suite("The two bits of DeviceCheck")
struct DeviceBitsTests {
    @Test("A policy refuses devices for their bits; of those that were never set, both are false", arguments: rules)
    func rule(_ rule: String, _ bits: (Bool, Bool)?, _ isRefused: Bool) async throws {
        let scene = try DeviceCheckScene(", refuse_when: {\(rule)}")
        if let bits {
            let change: JSON = [
                "deviceToken": DeviceCheckScene.token(), "bit0": .bool(bits.0), "bit1": .bool(bits.1),
            ]
            #expect(await scene.update(change).failure == nil)
        }
        let failure = await scene.exchange(DeviceCheckScene.token(number: 1)).failure
        #expect(failure?.reason == (isRefused ? DeviceCheckProvider.reasons.bits : nil))
        #expect(scene.questions.last == "/v1/query_two_bits")
        #expect(scene.questions.contains("/v1/validate_device_token") == false)
        guard !isRefused else { return }
        let facts = try #require(scene.sink.records.last?.facts)
        #expect(facts.contains(Fact(.deviceBit0, .bool(bits?.0 ?? false))))
        #expect(facts.contains(Fact(.deviceBit1, .bool(bits?.1 ?? false))))
        #expect(facts.contains(Fact(.deviceBitsUpdated, .text("2026-11"))) == (bits != nil))
    }

    @Test("Apple's two texts for bits that were never set mean that they are not set", arguments: unset)
    func neverSet(_ text: String) async throws {
        let scene = try DeviceCheckScene(", refuse_when: {bit0: true}")
        scene.apple.script([.respond(OutboundResponse(status: 200, body: Array(text.utf8)))])
        #expect(await scene.exchange().failure == nil)
    }

    @Test("An answer without the bits decides nothing", arguments: unclear)
    func noBits(_ text: String) async throws {
        let scene = try DeviceCheckScene(", refuse_when: {bit0: true}")
        scene.apple.script([.respond(OutboundResponse(status: 200, body: Array(text.utf8)))])
        let failure = await scene.exchange().failure
        #expect(failure?.status == .unavailable)
        #expect(failure?.detail?.hasPrefix("upstream_malformed") == true)
    }

    @Test("Without a rule nobody asks for bits")
    func noRule() async throws {
        let scene = try DeviceCheckScene()
        _ = await scene.exchange()
        #expect(scene.sink.records.last?.facts == [])
    }

    @Test("What was set is on record, and the token is not good for an exchange")
    func record() async throws {
        let scene = try DeviceCheckScene()
        #expect(await scene.update(["deviceToken": DeviceCheckScene.token(), "bit1": true]).failure == nil)
        #expect(scene.sink.records.last?.facts == [Fact(.deviceBit1, .bool(true))])
        #expect(scene.sink.records.last?.caller == "backend")
        #expect(await scene.exchange().failure?.reason == DeviceCheckProvider.reasons.reused)
    }

    @Test("One bit may be set, and the other stays")
    func one() async throws {
        let scene = try DeviceCheckScene(", refuse_when: {bit0: true, bit1: true}, allow_reuse: true")
        #expect(await scene.update(["deviceToken": DeviceCheckScene.token(), "bit0": true]).failure == nil)
        #expect(await scene.exchange().failure == nil)
        #expect(try await scene.update(["device_token": DeviceCheckScene.token(), "bit1": true]).get() == [:])
        #expect(await scene.exchange().failure?.reason == DeviceCheckProvider.reasons.bits)
        #expect(await scene.update(["deviceToken": DeviceCheckScene.token(), "bit0": false]).failure == nil)
        #expect(await scene.exchange().failure == nil)
    }

    @Test("A caller reads the bits, and the token is not good for an exchange")
    func reading() async throws {
        let scene = try DeviceCheckScene()
        #expect(
            try await scene.read(["deviceToken": DeviceCheckScene.token()]).get() == ["bit0": false, "bit1": false])
        #expect(await scene.exchange().failure?.reason == DeviceCheckProvider.reasons.reused)
        #expect(await scene.update(["deviceToken": DeviceCheckScene.token(number: 1), "bit1": true]).failure == nil)
        #expect(
            try await scene.read(["device_token": DeviceCheckScene.token(number: 2)]).get()
                == ["bit0": false, "bit1": true, "lastUpdate": "2026-11"])
        #expect(
            scene.sink.records.last?.facts == [
                Fact(.deviceBit0, .bool(false)), Fact(.deviceBit1, .bool(true)),
                Fact(.deviceBitsUpdated, .text("2026-11")),
            ])
        #expect(await scene.read(["deviceToken": "!"]).failure?.status == .invalidArgument)
        let asked = scene.questions
        #expect(
            await scene.read(["deviceToken": DeviceCheckScene.token(number: 3)], as: DeviceCheckScene.stranger).failure?
                .status == .permissionDenied)
        #expect(scene.questions == asked)
        let other = await scene.read(["deviceToken": DeviceCheckScene.token(in: .development)]).failure
        #expect(other?.reason == DeviceCheckProvider.reasons.refused)
    }

    @Test("Who may not set bits learns nothing, and Apple hears nothing")
    func permission() async throws {
        let scene = try DeviceCheckScene()
        let change: JSON = ["deviceToken": DeviceCheckScene.token(), "bit0": true]
        #expect(await scene.update(change, as: nil).failure?.status == .unauthenticated)
        #expect(await scene.update(change, as: DeviceCheckScene.stranger).failure?.status == .permissionDenied)
        #expect(scene.questions == [])
    }

    @Test("A change that says nothing, or of no token, is the caller's mistake")
    func mistakes() async throws {
        let scene = try DeviceCheckScene()
        for change: JSON in [
            ["deviceToken": DeviceCheckScene.token()], ["bit0": true], ["deviceToken": "!", "bit0": true],
            ["deviceToken": DeviceCheckScene.token(), "bit0": "true"],
            ["deviceToken": DeviceCheckScene.token(), "bit0": nil],
        ] {
            #expect(await scene.update(change).failure?.status == .invalidArgument)
        }
        #expect(scene.questions == [])
        let other: JSON = ["deviceToken": DeviceCheckScene.token(in: .development), "bit1": true]
        let failure = await scene.update(other).failure
        #expect(failure?.status == .invalidArgument)
        #expect(failure?.reason == DeviceCheckProvider.reasons.refused)
    }
}
