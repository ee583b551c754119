import Foundation

#if canImport(Glibc)
import Glibc
import SwiftOverlayShims
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// What answers every connection with the same bytes, and then with nothing.
final class FakePostgres: Sendable {
    private let listener: Listener

    var port: UInt16 { listener.port }
    var location: String { "//u@127.0.0.1:\(port)/d?sslmode=disable&gssencmode=disable#pool=1&timeout=500ms" }

    init(_ answer: [UInt8]) throws {
        listener = try Listener()
        Thread.detachNewThread { [listener] in
            while true {
                let client = accept(listener.descriptor, nil, nil)
                guard client >= 0 else { return }
                Thread.detachNewThread { Self.serve(client, answer) }
            }
        }
    }

    func close() {
        shutdown(listener.descriptor, CInt(SHUT_RDWR))
        listener.close()
    }

    private static func serve(_ client: CInt, _ answer: [UInt8]) {
        var buffer = [UInt8](repeating: 0, count: 4096)
        var isAnswered = false
        while recv(client, &buffer, buffer.count, 0) > 0 {
            if !isAnswered { _ = send(client, answer, answer.count, CInt(MSG_NOSIGNAL)) }
            isAnswered = true
        }
        Listener(descriptor: client).close()
    }

    /// One message of the protocol: its kind, its length and what is in it.
    static func message(_ kind: UInt8, _ body: [UInt8]) -> [UInt8] {
        [kind] + withUnsafeBytes(of: UInt32(body.count + 4).bigEndian) { Array($0) } + body
    }

    /// That the user is accepted, the server's version, and that it is ready.
    static func greeting(version: String) -> [UInt8] {
        message(0x52, [0, 0, 0, 0]) + message(0x53, Array("server_version\0\(version)\0".utf8)) + message(0x5A, [0x49])
    }
}
