internal import AssayCore
package import NIOCore
package import NIOPosix

#if canImport(Glibc)
internal import Glibc
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

extension ServerBootstrap {
    /// Starts to listen.
    ///
    /// - Parameters:
    ///   - backlog: how many connections wait in the system before it refuses more.
    ///   - setUp: prepares an accepted connection.
    /// - Returns: the connections, and the listener's address: with the real port if 0 was requested, and the real
    ///   address of a socket of systemd.
    /// - Throws: ``ListenerError`` with the address and the cause.
    package func listen<Connection: Sendable>(
        at address: ListenerAddress, backlog: Int,
        setUp: @escaping @Sendable (any Channel) -> EventLoopFuture<Connection>
    ) async throws -> (NIOAsyncChannel<Connection, Never>, ListenerAddress) {
        let bootstrap = serverChannelOption(.backlog, value: Int32(clamping: backlog))
        do {
            switch address {
            case .host(let host, let port):
                // The system would take the rest of a division.
                guard UInt16(exactly: port) != nil else {
                    throw ListenerError("cannot listen on \(address.place): a port is 0 to 65535")
                }
                let listening = try await bootstrap.serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                    .bind(host: host, port: port, childChannelInitializer: setUp)
                return (listening, listening.channel.listenerAddress ?? address)
            case .unixSocket(let path, let mode):
                SocketFile.makeWay(path)
                let file = try SocketFile.bind(path, mode: mode)
                let listening: NIOAsyncChannel<Connection, Never>
                do {
                    listening = try await bootstrap.bind(file.descriptor, childChannelInitializer: setUp)
                } catch {
                    file.removeFile()
                    throw error
                }
                listening.channel.closeFuture.whenComplete { _ in file.removeFile() }
                setBacklog(file.descriptor, backlog)
                return (listening, address)
            case .systemd(let name):
                let descriptor = try SystemdSockets.take(name)
                let listening = try await bootstrap.bind(descriptor, childChannelInitializer: setUp)
                setBacklog(descriptor, backlog)
                return (listening, listening.channel.listenerAddress ?? address)
            }
        } catch let error as ListenerError {
            throw error
        } catch let error as IOError {
            throw ListenerError(
                "cannot listen on \(address.place): \(String(cString: strerror(error.errnoCode)))"
                    + (error.errnoCode == EADDRINUSE ? "; stop the program that uses it, or choose another one" : ""))
        } catch is SocketAddressError.UnknownHost {
            throw ListenerError("cannot listen on \(address.place): no address of this machine has this name")
        } catch {
            throw ListenerError("cannot listen on \(address.place): \(error)")
        }
    }
}

/// A bootstrap sets its own backlog on a socket that it receives.
private func setBacklog(_ descriptor: Int32, _ backlog: Int) {
    _ = listen(descriptor, Int32(clamping: backlog))
}

extension Channel {
    /// The IP address of the peer as text; nil for other sockets.
    ///
    /// A peer with IPv4 has its IPv4 address, also at a listener for IPv6, where the system writes `::ffff:192.0.2.1`.
    package var peerAddress: String? {
        remoteAddress?.ipAddress.map { text in
            text.starts(withExactly: "::ffff:") && text.utf8.contains(UInt8(ascii: "."))
                ? String(text.dropFirst(7)) : text
        }
    }

    /// The address of a listening channel, according to the system.
    fileprivate var listenerAddress: ListenerAddress? {
        guard let localAddress else { return nil }
        if let host = localAddress.ipAddress, let port = localAddress.port { return .host(host, port: port) }
        return localAddress.pathname.map { .unixSocket($0) }
    }
}

extension ListenerAddress {
    /// The address in the words of an error.
    fileprivate var place: String {
        if case .host(let host, let port) = self { "\(host), port \(port)" } else { description }
    }
}

/// The reason why an address cannot be listened on: it is in use, not this machine's, or not allowed.
public struct ListenerError: Error, Sendable, CustomStringConvertible {
    /// The address and the cause, for an operator.
    public let message: String

    init(_ message: String) {
        self.message = message
    }

    /// The same, of a listener with a name for operators, such as the option that sets its address.
    package func of(_ name: String) -> ListenerError { ListenerError("\(name): \(message)") }

    /// The message.
    public var description: String { message }
}
