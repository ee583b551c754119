import AssayCore
import AssayCrypto
import AssayEngine
import AssayKit
import AssayTesting
import AssayTestSupport
import Foundation
import SwiftOverlayShims
import Testing
@testable import AssayServices

@Suite("The folder of captured evidence", .timeLimit(.minutes(5)))
struct EvidenceFolderTests {
    private static func mode(_ path: String) -> mode_t {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
    }

    private static func size(_ scene: CaptureScene) -> Int {
        scene.files.reduce(0) { sum, name in
            var status = stat()
            return stat("\(scene.folder)/\(name)", &status) == 0 ? sum + Int(status.st_size) : sum
        }
    }

    @Test("Only the server's user can use the folder and its files")
    func modes() async throws {
        try await withTemporaryFolder { folder in
            let scene = try CaptureScene(in: folder)
            _ = await scene.sendDebugToken(CaptureScene.wrongToken)
            #expect(try await scene.lines().count == 1)
            #expect(Self.mode(scene.folder) == 0o700)
            #expect(scene.files == ["evidence-20261121T12-0001.jsonl"])
            #expect(Self.mode("\(scene.folder)/\(scene.files[0])") == 0o600)
        }
    }

    @Test("A folder that others can use, that another server uses, or that is none is refused")
    func refusals() async throws {
        try await withTemporaryFolder { folder in
            func open(_ name: String) throws -> EvidenceFolder {
                try EvidenceFolder(path: folder.appendingPathComponent(name).path, logger: TestService.silent)
            }
            try FileManager.default.createDirectory(
                at: folder.appendingPathComponent("wide"), withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o750])
            #expect(throws: EvidenceFolderError.self) { try open("wide") }
            try Data().write(to: folder.appendingPathComponent("file"))
            #expect(throws: EvidenceFolderError.self) { try open("file") }
            #expect(throws: EvidenceFolderError.self) { try open("a/b") }
            let first = try open("one")
            #expect(throws: EvidenceFolderError.self) { try open("one") }
            await first.close()
        }
    }

    @Test("Each hour has files of its own, and so has each start")
    func hours() async throws {
        try await withTemporaryFolder { folder in
            let scene = try CaptureScene(in: folder)
            for _ in 0..<2 {
                _ = await scene.sendDebugToken(CaptureScene.wrongToken)
                #expect(try await scene.lines().count >= 1)
                scene.clock.advance(by: .seconds(3600))
            }
            #expect(scene.files == ["evidence-20261121T12-0001.jsonl", "evidence-20261121T13-0001.jsonl"])
        }
    }

    @Test("What is older than the policy keeps is deleted, also when nothing new comes; foreign files stay")
    func age() async throws {
        try await withTemporaryFolder { folder in
            let scene = try CaptureScene(in: folder, capture: "max_age: 2h")
            _ = await scene.sendDebugToken(CaptureScene.wrongToken)
            _ = try await scene.lines()
            try Data("x".utf8).write(to: URL(fileURLWithPath: "\(scene.folder)/notes.jsonl"))
            scene.clock.advance(by: .seconds(3600))
            _ = await scene.sendDebugToken(CaptureScene.wrongToken)
            _ = try await scene.lines()
            scene.clock.advance(by: .seconds(3600))
            scene.service.engine.tidyEvidence()
            await scene.evidence.close()
            #expect(scene.files == ["evidence-20261121T13-0001.jsonl", "notes.jsonl"])
            scene.clock.advance(by: .seconds(3600))
            scene.service.engine.tidyEvidence()
            await scene.evidence.close()
            #expect(scene.files == ["notes.jsonl"])
        }
    }

    @Test("All records together are never larger than the policy says; the oldest are deleted first")
    func sizeLimit() async throws {
        try await withTemporaryFolder { folder in
            let scene = try CaptureScene(
                in: folder, capture: "max_size: 1MiB", options: .init(perSecond: 100_000, queueLimit: 100_000))
            var decisions: [DecisionID] = []
            for index in 0..<800 {
                let token = CaptureScene.wrongToken + String(repeating: "y", count: 1500)
                decisions.append(await scene.sendDebugToken(token, peer: index).decision)
                if index % 100 == 0 { await scene.evidence.close() }
                // Files may go and grow while their sizes are added up.
                #expect((0..<5).contains { _ in Self.size(scene) <= 1 << 20 })
            }
            let records = try await scene.records()
            #expect(Self.size(scene) <= 1 << 20 && Self.size(scene) > 1 << 19)
            #expect(records.count < 800 && records.map(\.decision) == decisions.suffix(records.count))
            #expect(scene.meter["evidence_captured_total"] == 800)
            #expect(Int(scene.meter["evidence_folder_bytes"]) == Self.size(scene))
        }
    }

    @Test("A flood of refused requests is captured at a rate, and hides no other app's evidence")
    func flood() async throws {
        try await withTemporaryFolder { folder in
            let scene = try CaptureScene(in: folder, capture: "decisions: refused", options: .init(perSecond: 50))
            for index in 0..<3000 { _ = await scene.sendDebugToken(CaptureScene.wrongToken, peer: index) }
            var options = AttestationOptions()
            options.nonce = { $0[0] ^= 1 }
            let service = scene.service
            let reply = try await service.attest(
                service.device.generateKey(), challenge: service.challenge(TestService.otherApp), TestService.otherApp,
                options: options)
            let records = try await scene.records()
            // Both clocks of the service stand still: the bursts are all that there is.
            #expect(records.count <= 100)
            #expect(records.last?.decision == reply.decision)
            #expect(scene.meter["evidence_lost_total", "rate"] == Double(3001 - records.count))
        }
    }

    @Test("One peer cannot hide the evidence of the others of its app")
    func onePeer() async throws {
        try await withTemporaryFolder { folder in
            let scene = try CaptureScene(in: folder, options: .init(perSecond: 50))
            for _ in 0..<3000 { _ = await scene.sendDebugToken(CaptureScene.wrongToken, peer: 1) }
            let other = await scene.sendDebugToken(CaptureScene.wrongToken, peer: 2)
            #expect(try await scene.records().last?.decision == other.decision)
        }
    }

    @Test("Beyond the limit of the queue evidence is lost and counted, and decisions continue")
    func queue() async throws {
        try await withTemporaryFolder { folder in
            let scene = try CaptureScene(
                in: folder, options: .init(perSecond: 100_000, queueLimit: 512, queueByteLimit: 1100))
            let long = String(repeating: "x", count: 2000)
            #expect(await scene.sendDebugToken(long).reason == "debug_token_unknown")
            #expect(try await scene.records().isEmpty)
            #expect(scene.meter["evidence_lost_total", "queue"] == 1)
            #expect(scene.meter["evidence_waiting"] == 0)
        }
    }

    @Test(
        "A full disk stops no decision; what cannot be written is lost, and no line is left in parts",
        .enabled(if: SmallDisk.isPossible, "mounting a file system needs root"))
    func fullDisk() async throws {
        try await SmallDisk.with(kibibytes: 8) { disk in
            let scene = try CaptureScene(in: URL(fileURLWithPath: disk))
            let token = String(repeating: "x", count: 1500)
            for index in 0..<20 {
                #expect(await scene.sendDebugToken(token, peer: index).reason == "debug_token_unknown")
                await scene.evidence.close()
            }
            let written = scene.meter["evidence_captured_total"]
            #expect(written > 0 && scene.meter["evidence_lost_total", "disk"] == 20 - written)
            #expect(scene.meter["evidence_writable"] == 0)
            #expect(scene.evidence.readiness != .ready)
            #expect(try await scene.records().count == Int(written))
            try #require(SmallDisk.resize(disk, kibibytes: 4096))
            #expect(await scene.sendDebugToken(token).reason == "debug_token_unknown")
            #expect(try await scene.records().count == Int(written) + 1)
            #expect(scene.evidence.readiness == .ready && scene.meter["evidence_writable"] == 1)
        }
    }

    @Test("After a file or the folder was removed, evidence goes to a new one; while none can be made, it is lost")
    func removed() async throws {
        try await withTemporaryFolder { folder in
            let scene = try CaptureScene(in: folder)
            _ = await scene.sendDebugToken(CaptureScene.wrongToken)
            _ = try await scene.lines()
            for name in scene.files { try FileManager.default.removeItem(atPath: "\(scene.folder)/\(name)") }
            _ = await scene.sendDebugToken(CaptureScene.wrongToken)
            #expect(try await scene.records().count == 1)
            try FileManager.default.removeItem(atPath: scene.folder)
            #expect(await scene.sendDebugToken(CaptureScene.wrongToken).reason == "debug_token_unknown")
            #expect(try await scene.records().count == 1)
            #expect(scene.meter["evidence_lost_total", "disk"] == 0)

            try FileManager.default.removeItem(atPath: scene.folder)
            try Data().write(to: URL(fileURLWithPath: scene.folder))
            #expect(await scene.sendDebugToken(CaptureScene.wrongToken).reason == "debug_token_unknown")
            #expect(try await scene.lines() == [])
            #expect(scene.meter["evidence_lost_total", "disk"] == 1)
            #expect(scene.evidence.readiness != .ready)
            try FileManager.default.removeItem(atPath: scene.folder)
            _ = await scene.sendDebugToken(CaptureScene.wrongToken)
            #expect(try await scene.records().count == 1)
            #expect(scene.evidence.readiness == .ready)
        }
    }
}
