import AssayCore
import AssayKit
import Foundation
import Testing

@testable import AssayHTTPServer

@Suite("Sockets that systemd passes")
struct SystemdSocketsTests {
    private func sockets(_ environment: [String: String]) throws -> SystemdSockets {
        try SystemdSockets(environment: { environment[$0] }, process: 42)
    }

    @Test("they are found by their names, or alone without")
    func names() throws {
        let one = try sockets(["LISTEN_PID": "42", "LISTEN_FDS": "1"])
        #expect(one.names == ["unknown"])
        #expect(try one.descriptor(nil) == 3)
        #expect(try one.descriptor("unknown") == 3)
        let three = try sockets(["LISTEN_PID": "42", "LISTEN_FDS": "3", "LISTEN_FDNAMES": "http:admin"])
        #expect(three.names == ["http", "admin", "unknown"])
        #expect(try three.descriptor("admin") == 4)
        #expect(throws: SystemdSockets.Problem.self) { try three.descriptor(nil) }
        #expect(throws: SystemdSockets.Problem.self) { try three.descriptor("other") }
        let twins = try sockets(["LISTEN_PID": "42", "LISTEN_FDS": "2", "LISTEN_FDNAMES": "http:http"])
        #expect(throws: SystemdSockets.Problem.self) { try twins.descriptor("http") }
    }

    @Test(
        "variables of another process, and such as make no sense, are none",
        arguments: [
            [:], ["LISTEN_FDS": "1"], ["LISTEN_PID": "41", "LISTEN_FDS": "1"], ["LISTEN_PID": "42"],
            ["LISTEN_PID": "42", "LISTEN_FDS": "0"], ["LISTEN_PID": "42", "LISTEN_FDS": "-1"],
            ["LISTEN_PID": "42", "LISTEN_FDS": "99999999"], ["LISTEN_PID": "42", "LISTEN_FDS": "x"],
        ])
    func nothing(_ environment: [String: String]) {
        #expect(throws: SystemdSockets.Problem.self) { try sockets(environment) }
    }

    @Test("only a stream socket that listens is one")
    func kinds() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("assay-\(UUID().uuidString)").path
        let file = try SocketFile.bind(path, mode: 0o600)
        defer {
            close(file.descriptor)
            file.removeFile()
        }
        #expect(!SystemdSockets.isListening(file.descriptor))
        #expect(listen(file.descriptor, 1) == 0)
        #expect(SystemdSockets.isListening(file.descriptor))
        #expect(!SystemdSockets.isListening(STDERR_FILENO))
        #expect(!SystemdSockets.isListening(9999))
    }
}
