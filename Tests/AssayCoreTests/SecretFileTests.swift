@testable import AssayKit
import Foundation
import Testing

@testable import AssayCore

#if canImport(Glibc)
import Glibc
import SwiftOverlayShims
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

private let isRoot = geteuid() == 0

@Suite("Files of secrets")
struct SecretFileTests {
    private static let user: UInt32 = 1000
    private static let group: UInt32 = 2000
    private static let process = ProcessIdentity(user: user, groups: [1000, group])

    private func problem(
        _ owner: UInt32, _ group: UInt32, _ mode: UInt32, _ grants: [FileAccess.Grant]? = nil,
        _ process: ProcessIdentity = process
    ) -> String? {
        FileAccess(owner: owner, group: group, mode: 0o100000 | mode, grants: grants).problem(for: process, path: "/k")
    }

    @Test(
        "Root's and the user's own are taken, and what a group of the process may read",
        arguments: [
            (0, 0, 0o400), (0, group, 0o440), (0, group, 0o640), (user, group, 0o600), (user, 1000, 0o640),
            (user, 7, 0o400), (0, 7, 0o600),
        ] as [(UInt32, UInt32, UInt32)])
    func taken(_ owner: UInt32, _ group: UInt32, _ mode: UInt32) {
        #expect(problem(owner, group, mode) == nil)
    }

    @Test(
        "Everything else is refused, with the mode and the command that mends it",
        arguments: [
            (7, group, 0o400, "mode 0400 and belongs to user 7", "run `chown 1000 /k && chmod 600 /k`"),
            (user, group, 0o644, "mode 0644", "run `chmod 600 /k`"),
            (user, 7, 0o604, "every user of this machine", "run `chmod 600 /k`"),
            (user, 7, 0o601, "every user of this machine", "run `chmod 600 /k`"),
            (user, 7, 0o640, "group 7, which this process is not a member of", "run `chmod 600 /k`"),
            (0, 7, 0o440, "group 7", "run `chown 1000 /k && chmod 600 /k`"),
            (0, group, 0o660, "may do more than read it", "run `chmod 640 /k`"),
            (0, 0, 0o644, "every user of this machine", "run `chown 1000 /k && chmod 600 /k`"),
        ] as [(UInt32, UInt32, UInt32, String, String)])
    func refused(_ owner: UInt32, _ group: UInt32, _ mode: UInt32, _ reason: String, _ command: String) throws {
        let text = try #require(problem(owner, group, mode))
        #expect(text.contains(reason), "\(text)")
        #expect(text.hasSuffix(command), "\(text)")
    }

    @Test("Root takes no other user's file, and gives it to root")
    func root() throws {
        let root = ProcessIdentity(user: 0, groups: [0])
        #expect(problem(0, 0, 0o400, nil, root) == nil)
        #expect(try #require(problem(1000, 0, 0o400, nil, root)).contains("run `chown root /k && chmod 600 /k`"))
        #expect(try #require(problem(0, 7, 0o440, nil, root)).hasSuffix("run `chmod 600 /k`"))
    }

    @Test("Of an access control list each entry counts, as systemd gives one to its credentials")
    func accessControlList() throws {
        // A user may read; root's group may not, though the mode says 0440.
        let systemd = [
            FileAccess.Grant(subject: .owningGroup, rights: 0), .init(subject: .user(Self.user), rights: 4),
        ]
        #expect(problem(0, 0, 0o440, systemd) == nil)
        #expect(problem(0, 0, 0o440, [.init(subject: .group(Self.group), rights: 4)]) == nil)
        let refused: [([FileAccess.Grant], String)] = [
            ([.init(subject: .owningGroup, rights: 4)], "group 0,"), ([.init(subject: .user(7), rights: 4)], "user 7,"),
            ([.init(subject: .group(7), rights: 4)], "group 7,"),
            ([.init(subject: .group(Self.group), rights: 6)], "more than read it"),
        ]
        for (grants, words) in refused { #expect(problem(0, 0, 0o440, grants)?.contains(words) == true) }
    }

    /// Version 2; `user::r--`, `user:1000:r-x`, `group::rw-`, `mask::r--`, `other::---`.
    private static let list: [UInt8] =
        [2, 0, 0, 0] + [1, 0, 4, 0, 255, 255, 255, 255] + [2, 0, 5, 0, 0xE8, 3, 0, 0]
        + [4, 0, 6, 0, 255, 255, 255, 255] + [16, 0, 4, 0, 255, 255, 255, 255] + [32, 0, 0, 0, 255, 255, 255, 255]

    @Test("A list is read as Linux keeps it, without what its mask takes away")
    func listBytes() throws {
        let grants = try #require(FileAccess.grants(Self.list))
        #expect(grants.map(\.rights) == [4, 4])
        guard case .user(1000)? = grants.first?.subject, case .owningGroup? = grants.last?.subject else {
            Issue.record("\(grants)")
            return
        }
        for count in [0, 3, 5, 11] { #expect(FileAccess.grants(Array(Self.list.prefix(count))) == nil) }
    }

    @Test("A path is quoted for the shell where that is needed")
    func quoted() throws {
        let access = FileAccess(owner: 1000, group: 7, mode: 0o644, grants: nil)
        let text = try #require(access.problem(for: Self.process, path: "/it's mine"))
        #expect(text.hasSuffix(#"`chmod 600 '/it'\''s mine'`"#), "\(text)")
    }

    // Real files.

    private func withFile(_ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("assay-secret-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("key").path
        try Data("secret\n".utf8).write(to: URL(fileURLWithPath: file))
        #expect(chmod(file, 0o600) == 0)
        try body(file)
    }

    private func read(_ path: String) throws -> [UInt8] { try SecretFile.read(path, limit: 100) }

    @Test("A real file is judged by its mode, behind links as well")
    func modes() throws {
        try withFile { (file: String) throws in
            let link = file + ".link"
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "key")
            for path in [file, link] {
                for mode: mode_t in [0o400, 0o600] {
                    #expect(chmod(file, mode) == 0)
                    #expect(try read(path) == Array("secret\n".utf8))
                }
                for mode: mode_t in [0o404, 0o604, 0o644, 0o601, 0o666] {
                    #expect(chmod(file, mode) == 0)
                    let error = #expect(throws: SecretError.self) { try read(path) }
                    #expect(error?.message.contains("mode 0\(String(mode, radix: 8))") == true, "\(error as Any)")
                    #expect(error?.message.contains("secret\n") == false)
                    #expect(throws: SecretError.self) {
                        try SecretSource.system.resolve(SecretReference(.file(path)))
                    }
                    #expect(try SecretSource.system.document(SecretReference(.file(path))) == Array("secret".utf8))
                }
            }
        }
    }

    @Test("A real file is judged by its owner and its group", .enabled(if: isRoot, "only root gives files away"))
    func owners() throws {
        try withFile { (file: String) throws in
            #expect(chown(file, 0, 54_321) == 0)
            #expect(try read(file) == Array("secret\n".utf8))
            #expect(chmod(file, 0o440) == 0)
            #expect(throws: SecretError.self) { try read(file) }
            #expect(chown(file, 0, getegid()) == 0)
            #expect(try read(file) == Array("secret\n".utf8))
            #expect(chmod(file, 0o400) == 0)
            #expect(chown(file, 54_321, 0) == 0)
            let error = #expect(throws: SecretError.self) { try read(file) }
            #expect(error?.message.contains("belongs to user 54321") == true)
        }
    }

    #if os(Linux)
    /// Gives a file the list `user::rw-`, `user:ID:r--`, `group::---`, `mask::r--`, `other::---`: its mode is 0640 then.
    private func setList(naming user: UInt32, of file: String) throws {
        let id = (0..<4).map { UInt8(truncatingIfNeeded: user >> ($0 * 8)) }
        let nobody = [UInt8](repeating: 255, count: 4)
        let head: [UInt8] = [2, 0, 0, 0]
        let users: [UInt8] = [1, 0, 6, 0] + nobody + [2, 0, 4, 0] + id
        let groups: [UInt8] = [4, 0, 0, 0] + nobody + [16, 0, 4, 0] + nobody
        let list: [UInt8] = head + users + groups + [32, 0, 0, 0] + nobody
        // The Swift module of glibc does not have it.
        typealias Call =
            @convention(c) (
                UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafeRawPointer, Int, Int32
            ) -> Int32
        let symbol = try #require(dlsym(nil, "setxattr"))
        let result = unsafeBitCast(symbol, to: Call.self)(file, "system.posix_acl_access", list, list.count, 0)
        try #require(result == 0, "\(String(cString: strerror(errno)))")
    }

    @Test("A real file is judged by its access control list")
    func realList() throws {
        try withFile { (file: String) throws in
            try setList(naming: 54_321, of: file)
            let error = #expect(throws: SecretError.self) { try read(file) }
            #expect(error?.message.contains("gives rights to user 54321") == true, "\(error as Any)")
            try setList(naming: geteuid(), of: file)
            // By the mode alone, this group would have rights.
            if isRoot { #expect(chown(file, 0, 54_321) == 0) }
            #expect(try read(file) == Array("secret\n".utf8))
        }
    }
    #endif

    @Test("A folder, a pipe and a file above the limit are refused, and nothing is waited for")
    func others() throws {
        try withFile { (file: String) throws in
            #expect(throws: SecretError.self) { try SecretFile.read(file, limit: 6) }
            #expect(try SecretFile.read(file, limit: 7).count == 7)
            #expect(throws: SecretError.self) { try read((file as NSString).deletingLastPathComponent) }
            #expect(mkfifo(file + ".pipe", 0o600) == 0)
            #expect(throws: SecretError.self) { try read(file + ".pipe") }
            #expect(throws: SecretError.self) { try read(file + ".none") }
        }
    }
}
