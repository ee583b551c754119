import AssayCore
import AssayCrypto
import AssayEngine
import AssayKit
import AssayTesting
import AssayTestSupport
import Foundation
import Testing
@testable import AssayServices

@Suite(
    "Master keys in a token (PKCS #11)",
    .enabled(if: SoftwareToken.isInstalled, "softhsm2 is not installed: apt-get install softhsm2"))
struct TokenMasterKeyTests {
    private func host(pin: String = SoftwareToken.pin) -> StorageHost {
        StorageHost(secrets: SecretSource { _ in Array(pin.utf8) }, logger: TestService.silent)
    }

    private func uri(_ object: String, token: String = SoftwareToken.label) -> String {
        "pkcs11:token=\(token);object=\(object)?module-path=\(SoftwareToken.module)&pin-source=env:PIN"
    }

    @Test("A key is made in the token, wraps and unwraps there, and is never made twice")
    func wrapping() async throws {
        try await SoftwareToken.prepare()
        let place = try MasterKeyPlace(uri("wrapping"))
        let none = await #expect(throws: KeyVaultError.self) { try await place.open(host()) }
        #expect(none?.message.contains("the token has no such AES key") == true, "\(none?.message ?? "")")
        let made = try await place.create(host())
        let key = try await place.open(host())
        #expect(key.id == made.id)
        let twice = await #expect(throws: KeyVaultError.self) { try await place.create(host()) }
        #expect(twice?.message.contains("exists already") == true)

        let data = SecretBytes([UInt8](repeating: 9, count: 32))
        let wrapped = try await key.wrap(data, for: [1])
        #expect(try await key.unwrap(wrapped, for: [1]) == data)
        await #expect(throws: KeyVaultError.self) { try await key.unwrap(wrapped, for: [2]) }
        let other = try await MasterKeyPlace(uri("other")).create(host())
        #expect(other.id != key.id)
        await #expect(throws: KeyVaultError.self) { try await other.unwrap(wrapped, for: [1]) }
        // Many at once, as one after another.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                group.addTask {
                    let wrapped = try await key.wrap(data, for: [UInt8(number)])
                    #expect(try await key.unwrap(wrapped, for: [UInt8(number)]) == data)
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("A vault under it keeps all promises")
    func promises() async throws {
        try await SoftwareToken.prepare()
        _ = try await MasterKeyPlace(uri("promises")).create(host())
        let location = uri("promises")
        let suite = KeyVaultSuite { host in
            var host = host
            host.state = MemoryStore(clock: .system)
            host.secrets = SecretSource { _ in Array(SoftwareToken.pin.utf8) }
            let opened = host
            return KeyVaultSuite.Subject(
                try await StateKeyVault.open(location, host: host),
                reopen: { try await StateKeyVault.open(location, host: opened) })
        }
        let failures = await suite.run()
        #expect(failures.isEmpty, "\(failures)")
    }

    @Test("What cannot be used is an error for an operator: a token, a module, a PIN that is tried only once")
    func problems() async throws {
        try await SoftwareToken.prepare()
        func message(_ text: String, pin: String = SoftwareToken.pin) async -> String {
            do {
                _ = try await MasterKeyPlace(text).open(host(pin: pin))
                return "opened"
            } catch {
                return "\(error)"
            }
        }
        #expect(await message(uri("x", token: "none")).contains("there is no such token"))
        #expect(
            await message("pkcs11:object=x?module-path=/no/module.so").contains("/no/module.so cannot be loaded"))
        let shared = "/lib/x86_64-linux-gnu/libz.so.1"
        if FileManager.default.fileExists(atPath: shared) {
            #expect(await message("pkcs11:object=x?module-path=\(shared)").contains("it is no PKCS #11 module"))
        }
        #expect(await message(uri("x"), pin: "9999").contains("the PIN is wrong"))
        #expect(await message(uri("x"), pin: "9999").contains("not tried again"))
        #expect(await message(uri("x")).contains("the token has no such AES key"))
        let withoutPIN = "pkcs11:token=\(SoftwareToken.label);object=x?module-path=\(SoftwareToken.module)"
        #expect(await message(withoutPIN).contains("cannot log in to the token"))
    }
}

/// A token in software (softhsm2), in a temporary folder of this process.
enum SoftwareToken {
    static let module = "/usr/lib/softhsm/libsofthsm2.so"
    static let label = "assay-test"
    static let pin = "2718281"

    static var isInstalled: Bool {
        [module, "/usr/bin/softhsm2-util"].allSatisfy { FileManager.default.fileExists(atPath: $0) }
    }

    private static let made = Task {
        let folder = FileManager.default.temporaryDirectory.appending(path: "assay-softhsm-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder.appending(path: "tokens"), withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        let configuration = folder.appending(path: "softhsm2.conf").path
        try "directories.tokendir = \(folder.path)/tokens\nlog.level = ERROR\n".write(
            toFile: configuration, atomically: true, encoding: .utf8)
        // Read when the module is loaded, by this process and by the tool.
        setenv("SOFTHSM2_CONF", configuration, 1)
        let tool = ChildProcess()
        tool.executableURL = URL(filePath: "/usr/bin/softhsm2-util")
        tool.arguments = ["--init-token", "--free", "--label", label, "--pin", pin, "--so-pin", "31415926"]
        tool.standardOutput = FileHandle.nullDevice
        tool.standardError = FileHandle.nullDevice
        try tool.run()
        tool.waitUntilExit()
        guard tool.terminationStatus == 0 else { throw KeyVaultError("softhsm2-util failed") }
        atexit_remove(folder.path)
    }

    /// Makes the token once for all tests.
    static func prepare() async throws { try await made.value }

    private static func atexit_remove(_ path: String) {
        folderAtExit = path
        atexit { if let folder = SoftwareToken.folderAtExit { try? FileManager.default.removeItem(atPath: folder) } }
    }

    nonisolated(unsafe) private static var folderAtExit: String?
}
