#if Simulator
import ArgumentParser
import AssayCore
import AssayCrypto
import AssayTesting
import AssayTestSupport
import Foundation
import Testing

@testable import AssayStandard

/// A policy names the key's file: a key that is replaced, or that others can read, breaks it.
@Suite("The files of a simulated Apple")
struct FakeAppleFolderTests {
    private func mode(_ path: String) throws -> Int? {
        (try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber)?.intValue
    }

    @Test("The folder and what is in it are its user's alone")
    func modes() async throws {
        try await withTemporaryFolder { parent in
            let folder = FakeAppleFolder(path: parent.appendingPathComponent("a/apple").path)
            _ = try folder.prepare(team: "ABCDE12345")
            #expect(try mode(folder.path) == 0o700)
            #expect(try mode(folder.keyFile) == 0o600)
            #expect(try mode(folder.receiptFile) == 0o600)
        }
    }

    @Test("The key stays for any team, and the receipt is a new one each time, of one line of Base 64")
    func again() async throws {
        try await withTemporaryFolder { parent in
            let folder = FakeAppleFolder(path: parent.path)
            let first = try folder.prepare(team: "ABCDE12345")
            let key = try String(contentsOfFile: folder.keyFile, encoding: .utf8)
            let receipt = try String(contentsOfFile: folder.receiptFile, encoding: .utf8)
            let second = try folder.prepare(team: "ZYXWV98765")
            #expect(try String(contentsOfFile: folder.keyFile, encoding: .utf8) == key)
            #expect(second.team.teamID == "ZYXWV98765" && second.team.keyID == first.team.keyID)
            #expect(second.team.privateKeyPEM == first.team.privateKeyPEM)
            let other = try String(contentsOfFile: folder.receiptFile, encoding: .utf8)
            #expect(other != receipt)
            for text in [receipt, other] {
                #expect(text.last == "\n")
                #expect((Base64.decode(String(text.dropLast()))?.count ?? 0) > 1000)
            }
        }
    }

    @Test("Each team's own token is answered, and another team's is not")
    func authorization() async throws {
        try await withTemporaryFolder { parent in
            let folder = FakeAppleFolder(path: parent.path)
            let first = try folder.prepare(team: "ABCDE12345")
            let second = try folder.prepare(team: "ZYXWV98765")
            let url = try #require(EndpointURL("http://127.0.0.1/production/v1/validate_device_token"))
            func status(_ apple: FakeApple, _ authorization: String, _ number: Int) throws -> Int? {
                let token = SimulatedAppleServer.deviceToken(of: "phone", number: number)
                let question: JSON = [
                    "device_token": .string(token), "transaction_id": "1",
                    "timestamp": .integer(HostClock.system.now.milliseconds),
                ]
                let request = OutboundRequest(
                    .post, url, headers: [OutboundHeader("Authorization", "Bearer \(authorization)")],
                    body: question.encoded)
                guard case .respond(let response) = apple.server.answer(request) else { return nil }
                return response.status
            }
            #expect(try status(first, first.authorization, 1) == 200)
            #expect(try status(first, first.authorization, 1) != 200, "a token is good for one question")
            #expect(try status(first, second.authorization, 2) == 401)
            #expect(try status(second, second.authorization, 2) == 200)
        }
    }

    /// What may be in place of the key by mistake.
    private static let noKeys: [(name: String, content: @Sendable () throws -> [UInt8])] = [
        ("an empty file", { [] }),
        ("a public text", { Array("-----BEGIN PRIVATE KEY-----\n".utf8) }),
        ("a key of another curve", { try pem(.ec(.p384)) }),
        ("a key of another kind", { try pem(.rsa(bits: 2048)) }),
        ("bytes that are no text", { [0xFF, 0xFE, 0x00] }),
    ]

    private static func pem(_ kind: KeyKind) throws -> [UInt8] {
        try PrivateKey.generate(kind).pem().withUnsafeBytes { Array($0) }
    }

    @Test("What is no such key is refused by its file's name, and left as it is", arguments: noKeys.indices)
    func noKey(_ index: Int) async throws {
        try await withTemporaryFolder { parent in
            let folder = FakeAppleFolder(path: parent.path)
            let content = try Self.noKeys[index].content()
            try write(content, to: folder.keyFile)
            let error = #expect(throws: FakeAppleError.self, "\(Self.noKeys[index].name)") {
                try folder.prepare(team: "ABCDE12345")
            }
            #expect(error?.description == "\(folder.keyFile) holds no P-256 private key in PEM")
            #expect(try Data(contentsOf: URL(fileURLWithPath: folder.keyFile)) == Data(content))
            #expect(!FileManager.default.fileExists(atPath: folder.receiptFile))
        }
    }

    private func write(_ content: [UInt8], to file: String, mode: Int = 0o600) throws {
        try Data(content).write(to: URL(fileURLWithPath: file))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
    }

    @Test("A key that is too large, or that others may read, is refused with the reason")
    func unsafeKey() async throws {
        try await withTemporaryFolder { parent in
            let folder = FakeAppleFolder(path: parent.path)
            try write([UInt8](repeating: 0x0A, count: 16 * 1024) + Self.pem(.ec(.p256)), to: folder.keyFile)
            #expect(throws: FakeAppleError.self) { try folder.prepare(team: "ABCDE12345") }
            try write(Self.pem(.ec(.p256)), to: folder.keyFile, mode: 0o644)
            let error = #expect(throws: FakeAppleError.self) { try folder.prepare(team: "ABCDE12345") }
            #expect(error?.description.contains("644") == true, "\(error.map { "\($0)" } ?? "no error")")
            try write(Self.pem(.ec(.p256)), to: folder.keyFile)
            _ = try folder.prepare(team: "ABCDE12345")
        }
    }

    @Test("A folder in place of the key or of the receipt is an error, and stays")
    func folders() async throws {
        try await withTemporaryFolder { parent in
            let key = FakeAppleFolder(path: parent.appendingPathComponent("key").path)
            try FileManager.default.createDirectory(atPath: key.keyFile, withIntermediateDirectories: true)
            #expect(throws: FakeAppleError.self) { try key.prepare(team: "ABCDE12345") }
            let receipt = FakeAppleFolder(path: parent.appendingPathComponent("receipt").path)
            try FileManager.default.createDirectory(atPath: receipt.receiptFile, withIntermediateDirectories: true)
            let error = #expect(throws: FakeAppleError.self) { try receipt.prepare(team: "ABCDE12345") }
            #expect(error?.description == "\(receipt.receiptFile) cannot be written")
        }
    }
}

@Suite("What a simulated Apple answers instead")
struct FakeAppleAnswersTests {
    @Test("A status is answered from 200 to 599", arguments: [(199, false), (200, true), (599, true), (600, false)])
    func statuses(_ status: Int, _ isGood: Bool) throws {
        guard isGood else {
            let error = #expect(throws: (any Error).self) { try FakeAppleAnswers.parse(["--answer", "\(status)"]) }
            #expect(error.map { FakeAppleAnswers.message(for: $0) } == "'\(status)' is not a status: 200 to 599")
            return
        }
        guard case .respond(let response) = try FakeAppleAnswers.parse(["--answer", "\(status)"]).scripted else {
            Issue.record("no response")
            return
        }
        #expect(response == OutboundResponse(status: status))
    }

    @Test("A wait of no time at all is one, too")
    func retryAfter() throws {
        let answers = try FakeAppleAnswers.parse(["--answer", "429", "--retry-after", "0"])
        guard case .respond(let response) = answers.scripted else {
            Issue.record("no response")
            return
        }
        #expect(response.header("retry-after") == "0")
    }

    @Test("Requests are answered as they deserve, or not at all")
    func others() throws {
        #expect(try FakeAppleAnswers.parse([]).scripted == nil)
        guard case .silence = try FakeAppleAnswers.parse(["--silent"]).scripted else {
            Issue.record("not silent")
            return
        }
    }

    @Test(
        "Options that do not go together are refused by what is wrong with them",
        arguments: [
            (["--retry-after", "5"], "--retry-after needs --answer"),
            (["--answer", "503", "--retry-after=-1"], "'-1' is not a number of seconds"),
            (["--silent", "--answer", "503"], "--silent and --answer cannot be combined"),
        ])
    func wrong(_ arguments: [String], _ message: String) {
        let error = #expect(throws: (any Error).self) { try FakeAppleAnswers.parse(arguments) }
        #expect(error.map { FakeAppleAnswers.message(for: $0) } == message)
    }
}
#endif
