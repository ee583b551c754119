import AssayCore
import AssayKit
import NIOCore
import Testing

@testable import AssayExtAuthz

private let networks: [(String, String, Bool)] = [
    ("192.0.2.1", "192.0.2.1", true), ("192.0.2.1", "192.0.2.2", false),
    ("2001:db8::1", "2001:db8::ffff:ffff:ffff:ffff", true), ("2001:db8::1", "2001:db8:0:1::1", false),
    ("::ffff:192.0.2.1", "192.0.2.1", true), ("::ffff:192.0.2.1", "::ffff:192.0.2.2", false),
    ("::1", "127.0.0.1", false),
]

@Suite("Room for connections")
struct ConnectionTableTests {
    @Test("peers are IPv4 addresses, and networks of IPv6", arguments: networks)
    func peers(first: String, second: String, areSame: Bool) throws {
        let peers = try [first, second].map { PeerGroup(try SocketAddress(ipAddress: $0, port: 1).ipAddress) }
        #expect((peers[0] == peers[1]) == areSame)
        #expect(PeerGroup(try SocketAddress(unixDomainSocketPath: "/a").ipAddress) == .unknown)
    }

    @Test("the connection that waits longest, of the peer that has the most, goes for a new one")
    func displaced() {
        var table = ConnectionTable(most: 4, ofPeer: 4)
        let first = connection(1, since: 1)
        let held = [connection(2, since: 5), connection(2, since: 3), connection(2, since: 4)]
        for connection in [first] + held { #expect(table.admit(connection).isAdmitted) }
        #expect(table.admit(connection(3, since: 9)).leaving === held[1])
        #expect(table.count == 4)
        // Now no peer has more than two, and the one with two goes before the one that waits longest.
        #expect(table.admit(connection(4, since: 9)).leaving === held[2])
        #expect(table.admit(connection(5, since: 9)).leaving === first)
    }

    @Test("a connection whose call is being answered stays, and when all are, a new one is refused")
    func busy() {
        var table = ConnectionTable(most: 2, ofPeer: 2)
        let both = [connection(1, since: 1), connection(2, since: 2)]
        for connection in both { #expect(table.admit(connection).isAdmitted) }
        both[0].callBegan()
        let third = connection(3)
        third.callBegan()
        #expect(table.admit(third).leaving === both[1])
        #expect(table.admit(connection(4)).isRefused)
        both[0].callAnswered(at: .uptimeNanoseconds(10))
        #expect(table.admit(connection(4)).leaving === both[0])
    }

    @Test("a peer that has as many as it may makes room for itself only, and one with the most takes none from others")
    func ownRoom() {
        var table = ConnectionTable(most: 4, ofPeer: 2)
        let other = connection(1, since: 1)
        let own = [connection(2, since: 5), connection(2, since: 4)]
        for connection in [other] + own { #expect(table.admit(connection).isAdmitted) }
        #expect(table.admit(connection(2, since: 6)).leaving === own[1])
        #expect(table.count == 3)

        table = ConnectionTable(most: 3, ofPeer: 3)
        for connection in [other] + own {
            #expect(table.admit(connection).isAdmitted)
            if connection !== other { connection.callBegan() }
        }
        #expect(table.admit(connection(2)).isRefused)
    }

    @Test("clients of a Unix socket are not counted by peer")
    func local() {
        var table = ConnectionTable(most: 3, ofPeer: 1)
        for _ in 0..<3 { #expect(table.admit(OpenConnection(peer: .unknown, at: .now()) {}).isAdmitted) }
    }

    @Test("what has left is not counted")
    func removed() {
        var table = ConnectionTable(most: 1, ofPeer: 1)
        let first = connection(1)
        _ = table.admit(first)
        table.remove(first)
        table.remove(first)
        #expect(table.count == 0)
        #expect(table.admit(connection(1)).isAdmitted)
    }

    private func connection(_ peer: UInt32, since: UInt64 = 0) -> OpenConnection {
        OpenConnection(peer: PeerGroup("192.0.2.\(peer)"), at: .uptimeNanoseconds(since)) {}
    }
}

extension ConnectionTable.Admission {
    fileprivate var isAdmitted: Bool {
        if case .admitted = self { true } else { false }
    }

    fileprivate var isRefused: Bool {
        if case .refused = self { true } else { false }
    }

    fileprivate var leaving: OpenConnection? {
        if case .inPlaceOf(let connection) = self { connection } else { nil }
    }
}
