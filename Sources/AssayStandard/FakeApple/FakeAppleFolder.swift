#if Simulator
internal import AssayCore
internal import AssayTesting
internal import Synchronization

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The files of a simulated Apple: the team's key, and a receipt to exchange.
struct FakeAppleFolder: Sendable {
    let path: String

    var keyFile: String { "\(path)/AuthKey_\(Self.keyID).p8" }
    var receiptFile: String { "\(path)/simulated-receipt.txt" }

    private static let keyID = "SIMULATED1"
    private static let keyLimit = 16 * 1024

    /// Reads the key that is there, or writes a new one; a key is never replaced.
    ///
    /// - Throws: when the folder cannot be used, or holds something else under the key's name.
    func prepare(team teamID: String) throws -> FakeApple {
        let clock = HostClock.system
        let files = FileManager.default
        try files.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let team: SimulatedAppleTeam
        if files.fileExists(atPath: keyFile) {
            let text: [UInt8]
            do throws(SecretError) {
                text = try SecretFile.read(keyFile, limit: Self.keyLimit)
            } catch {
                throw FakeAppleError(error.description)
            }
            guard
                let kept = try? SimulatedAppleTeam(
                    teamID: teamID, keyID: Self.keyID, privateKeyPEM: String(decoding: text, as: UTF8.self))
            else { throw FakeAppleError("\(keyFile) holds no P-256 private key in PEM") }
            team = kept
        } else {
            team = try SimulatedAppleTeam(teamID: teamID, keyID: Self.keyID)
            try write(team.privateKeyPEM, to: keyFile)
        }
        let authority = try SimulatedAppleCA(at: clock.now)
        try write(Base64.encode(try Self.receipt(teamID, authority)) + "\n", to: receiptFile)
        return FakeApple(
            server: SimulatedAppleServer(
                authority: authority, teams: [team], takesTokensOnce: true, requestLimit: 0, clock: clock), team: team,
            authorization: try team.token(at: clock.now))
    }

    /// The receipt in the attestation of a key that a device has just made.
    private static func receipt(_ teamID: String, _ authority: SimulatedAppleCA) throws -> [UInt8] {
        let receipt = Mutex<[UInt8]>([])
        var options = AttestationOptions()
        options.receiptBytes = { bytes in receipt.withLock { $0 = bytes } }
        let device = SimulatedDevice(authority: authority)
        _ = try device.attestKey(
            device.generateKey(), clientDataHash: [UInt8](repeating: 0, count: 32),
            app: SimulatedApp(appID: "\(teamID).com.example.app", environment: .production), at: HostClock.system.now,
            options: options)
        return receipt.withLock { $0 }
    }

    private func write(_ text: String, to file: String) throws {
        guard
            FileManager.default.createFile(
                atPath: file, contents: Data(text.utf8), attributes: [.posixPermissions: 0o600])
        else { throw FakeAppleError("\(file) cannot be written") }
    }
}
#endif
