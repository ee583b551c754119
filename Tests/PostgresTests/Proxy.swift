import AssayTestSupport
import Foundation
import Synchronization

#if canImport(Glibc)
import Glibc
import SwiftOverlayShims
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A TCP proxy in front of a server, which cuts, stalls or distorts connections.
final class Proxy: Sendable {
    enum Direction: CaseIterable, Sendable {
        case toServer, toClient
    }

    /// What becomes of the server's messages that come together.
    enum Distortion: CaseIterable, Sendable {
        /// All of them come twice.
        case repeatsAll
        /// One of them comes twice.
        case repeatsOne
        /// One of them is missing.
        case dropsOne
        /// Two of different kinds change places.
        case swaps
        /// Nothing comes, and what was held back comes before the next ones.
        case holdsBack
        /// They do not come, but those before them once more.
        case repeatsEarlier
    }

    private struct State {
        var distortion: Distortion?
        var random = SplitMix(seed: 1)
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

    /// Ends the thread that accepts; connections continue.
    func close() {
        state.withLock { $0.isClosed = true }
        shutdown(listener.descriptor, CInt(SHUT_RDWR))
        listener.close()
    }

    func cut(_ direction: Direction, after bytes: Int) { state.withLock { $0.cut = (direction, bytes) } }

    /// Holds everything back while it is true.
    func stall(_ stalls: Bool) { state.withLock { $0.stalls = stalls } }

    /// Distorts about a third of what the server sends, until it is told otherwise.
    func distort(_ distortion: Distortion?) { state.withLock { $0.distortion = distortion } }

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
        var (held, earlier): ([UInt8], [UInt8]) = ([], [])
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
            var bytes = buffer[..<passed]
            if direction == .toClient { bytes = distorted(bytes, &held, &earlier)[...] }
            while !bytes.isEmpty {
                let written = send(to, Array(bytes), bytes.count, CInt(MSG_NOSIGNAL))
                guard written > 0 else { return }
                bytes = bytes.dropFirst(written)
            }
            if isCut { return }
        }
    }

    private func distorted(_ bytes: ArraySlice<UInt8>, _ held: inout [UInt8], _ earlier: inout [UInt8]) -> [UInt8] {
        state.withLock { state in
            defer { earlier = Array(bytes) }
            let before = held
            held = []
            guard let distortion = state.distortion, state.random.happens(onceIn: 3) else { return before + bytes }
            var messages = Self.messages(bytes)
            let index = Int.random(in: 0..<messages.count, using: &state.random)
            switch distortion {
            case .repeatsAll: return before + bytes + bytes
            case .repeatsOne: messages.insert(messages[index], at: index)
            case .dropsOne: messages.remove(at: index)
            case .swaps:
                // Two rows that change places are what the server said, as far as a client can see.
                let others = messages.indices.filter { messages[$0].first != messages[index].first }
                if let other = others.randomElement(using: &state.random) { messages.swapAt(index, other) }
            case .holdsBack:
                held = before + bytes
                return []
            case .repeatsEarlier: return before + earlier
            }
            return before + messages.joined()
        }
    }

    /// The messages of the protocol, each a byte and a length that counts itself; at least one.
    private static func messages(_ bytes: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        var found: [ArraySlice<UInt8>] = []
        var rest = bytes
        while rest.count >= 5 {
            let length = 1 + rest.dropFirst().prefix(4).reduce(0) { $0 << 8 | Int($1) }
            found.append(rest.prefix(length))
            rest = rest.dropFirst(length)
        }
        return rest.isEmpty ? found : found + [rest]
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
