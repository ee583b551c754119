import Foundation
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A TCP proxy in front of a server, which cuts or stalls connections.
final class Proxy: Sendable {
    enum Direction: CaseIterable, Sendable {
        case toServer, toClient
    }

    private struct State {
        /// Cuts a connection when this many bytes have passed in a direction.
        var cut: (direction: Direction, left: Int)?
        var stalls = false
        var delay = 0
        var isClosed = false
    }

    private let listener: Listener
    private let target: UInt16
    private let state = Mutex(State())

    var port: UInt16 { listener.port }

    init(to target: UInt16) throws {
        self.target = target
        listener = try Listener()
        Thread.detachNewThread { [self] in
            while true {
                let client = accept(listener.descriptor, nil, nil)
                guard client >= 0, !state.withLock({ $0.isClosed }) else { return }
                Self.serve(client, target, self)
            }
        }
    }

    /// Ends the thread that accepts; connections go on.
    func close() {
        state.withLock { $0.isClosed = true }
        shutdown(listener.descriptor, CInt(SHUT_RDWR))
        listener.close()
    }

    func cut(_ direction: Direction, after bytes: Int) { state.withLock { $0.cut = (direction, bytes) } }

    /// Holds everything back while it is true.
    func stall(_ stalls: Bool) { state.withLock { $0.stalls = stalls } }

    /// Passes everything on so much later.
    func delay(milliseconds: Int) { state.withLock { $0.delay = milliseconds } }

    private static func serve(_ client: CInt, _ port: UInt16, _ proxy: Proxy) {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = port.bigEndian
        #if canImport(Glibc)
        let server = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        #else
        let server = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        let isOpen = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        let ends = LastEnd(2) {
            _ = [client, server].map(closeSocket)
        }
        guard isOpen else {
            _ = [client, server].map(closeSocket)
            return
        }
        for (direction, from, to) in [(Direction.toServer, client, server), (.toClient, server, client)] {
            Thread.detachNewThread {
                proxy.pump(direction, from, to)
                shutdown(client, CInt(SHUT_RDWR))
                shutdown(server, CInt(SHUT_RDWR))
                ends.end()
            }
        }
    }

    private func pump(_ direction: Direction, _ from: CInt, _ to: CInt) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(from, &buffer, buffer.count, 0)
            guard count > 0 else { return }
            usleep(UInt32(state.withLock { $0.delay }) * 1000)
            while state.withLock({ $0.stalls && !$0.isClosed }) { usleep(5_000) }
            let (passed, isCut) = state.withLock { state in
                guard let cut = state.cut, cut.direction == direction else { return (count, false) }
                let isCut = cut.left <= count
                state.cut = nil
                if !isCut { state.cut = (direction, cut.left - count) }
                return (min(count, cut.left), isCut)
            }
            var sent = 0
            while sent < passed {
                let written = send(to, Array(buffer[sent..<passed]), passed - sent, CInt(MSG_NOSIGNAL))
                guard written > 0 else { return }
                sent += written
            }
            if isCut { return }
        }
    }
}

private func closeSocket(_ descriptor: CInt) {
    #if canImport(Darwin)
    _ = Darwin.close(descriptor)
    #elseif canImport(Musl)
    _ = Musl.close(descriptor)
    #else
    _ = Glibc.close(descriptor)
    #endif
}

/// Does something when the last of a number of ends has come.
private final class LastEnd: Sendable {
    private let left: Atomic<Int>
    private let body: @Sendable () -> Void

    init(_ count: Int, _ body: @escaping @Sendable () -> Void) {
        left = Atomic(count)
        self.body = body
    }

    func end() {
        if left.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { body() }
    }
}
