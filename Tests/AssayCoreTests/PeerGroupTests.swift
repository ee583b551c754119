import AssayCore
import AssayKit
import Testing

private let addresses: [(String, String)] = [
    ("192.0.2.1", "192.0.2.1"), ("0.0.0.0", "0.0.0.0"), ("255.255.255.255", "255.255.255.255"),
    ("::ffff:192.0.2.1", "192.0.2.1"), ("0:0:0:0:0:FFFF:c000:0201", "192.0.2.1"), ("::", "::"), ("::1", "::1"),
    ("2001:DB8:0:0:1:0:0:1", "2001:db8::1:0:0:1"), ("2001:db8::", "2001:db8::"), ("1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"),
    ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"), ("::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"),
    ("64:ff9b::192.0.2.1", "64:ff9b::c000:201"),
    ("0000:0000:0000:0000:0000:ffff:255.255.255.255", "255.255.255.255"),
]

private let malformed = [
    "", " ", "1", "1.2.3", "1.2.3.4.5", "1.2.3.256", "01.2.3.4", "1.2.3.4 ", "1..3.4", "1.2.3.+4", "1.2.3.4:80",
    "[::1]", ":",
    ":::", "1::2::3", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7:8::", "12345::", "::g", "fe80::1%eth0",
    ":1::",
    "1::2:", "::1.2.3", "1.2.3.4::", "1:2:3:4:5:6:7:1.2.3.4", "::1.2.3.4:5", "１.2.3.4", "::ffff:192.0.2.1\0",
    String(repeating: "0", count: 100_000), String(repeating: ":", count: 45),
]

private let ranges: [(String, inside: [String], outside: [String])] = [
    ("10.0.0.0/8", ["10.0.0.0", "10.255.255.255", "::ffff:10.1.2.3"], ["9.255.255.255", "11.0.0.0", "::a00:1"]),
    ("10.9.9.9/8", ["10.0.0.1"], ["11.0.0.0"]), ("192.0.2.1", ["192.0.2.1"], ["192.0.2.0", "192.0.2.2"]),
    ("192.0.2.128/25", ["192.0.2.128", "192.0.2.255"], ["192.0.2.127"]), ("0.0.0.0/0", ["1.2.3.4"], ["::1"]),
    ("2001:db8::/32", ["2001:db8::", "2001:db8:ffff::1"], ["2001:db9::", "1.2.3.4"]), ("::/0", ["::1", "1.2.3.4"], []),
    ("2001:db8::1/128", ["2001:db8::1"], ["2001:db8::"]),
    ("2001:db8:0:0:8000::/65", ["2001:db8::8000:0:0:0"], ["2001:db8::1"]),
]

/// Which addresses are one group.
private let groups: [(String, String, Bool)] = [
    ("192.0.2.1", "192.0.2.1", true), ("192.0.2.1", "192.0.2.2", false), ("::ffff:192.0.2.1", "192.0.2.1", true),
    ("64:ff9b::192.0.2.1", "192.0.2.1", true), ("64:ff9b::192.0.2.1", "64:ff9b::192.0.2.2", false),
    ("2001:db8::1", "2001:db8::ffff:ffff:ffff:ffff", true), ("2001:db8::1", "2001:db8:0:1::1", false),
    ("::192.0.2.1", "192.0.2.1", false), ("nonsense", "else", true), ("0.0.0.0", "nonsense", false),
]

private let local = [
    "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.127.255.255", "127.0.0.1", "169.254.1.1", "172.16.0.1", "172.31.255.255",
    "192.168.1.1", "224.0.0.1", "255.255.255.255", "::1", "fe80::1", "fd00::1", "::ffff:10.0.0.1", "nonsense",
]

private let global = [
    "8.8.8.8", "100.63.255.255", "100.128.0.1", "172.15.0.1", "172.32.0.1", "192.167.1.1", "223.255.255.255", "2a00::1",
]

@Suite("Addresses of peers")
struct PeerGroupTests {
    @Test("an address is read in each of its forms, and written in one", arguments: addresses)
    func address(_ text: String, _ canonical: String) throws {
        let address = try #require(IPAddress(text))
        #expect(address.description == canonical)
        #expect(IPAddress(canonical) == address)
    }

    @Test("what is no address is none", arguments: malformed)
    func malformedAddress(_ text: String) {
        #expect(IPAddress(text) == nil)
        #expect(PeerGroup(text) == .unknown)
    }

    @Test("a range contains the addresses that begin with its bits", arguments: ranges)
    func range(_ text: String, _ inside: [String], _ outside: [String]) throws {
        let range = try #require(IPRange(text))
        #expect(range.description == text)
        for text in inside { #expect(range.contains(try #require(IPAddress(text))), "\(text)") }
        for text in outside { #expect(!range.contains(try #require(IPAddress(text))), "\(text)") }
        #expect(range.isEverything == text.hasSuffix("/0"))
    }

    @Test(
        "what is no range is none",
        arguments: [
            "", "/8", "10.0.0.0/", "10.0.0.0/33", "::/129", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/8/8", "10/8", "a/8",
        ])
    func malformedRange(_ text: String) {
        #expect(IPRange(text) == nil)
    }

    @Test("an IPv4 address is a group, and so is a /64 of IPv6", arguments: groups)
    func group(_ one: String, _ other: String, _ isSame: Bool) {
        #expect((PeerGroup(one) == PeerGroup(other)) == isSame)
    }

    @Test("a /24 and a /48 are networks")
    func networks() {
        #expect(PeerGroup("192.0.2.1").network == PeerGroup("192.0.2.255").network)
        #expect(PeerGroup("192.0.2.1").network != PeerGroup("192.0.3.1").network)
        #expect(PeerGroup("2001:db8:1:2::").network == PeerGroup("2001:db8:1:ffff::").network)
        #expect(PeerGroup("2001:db8:1::").network != PeerGroup("2001:db8:2::").network)
    }

    @Test("addresses of the operator's own network are told from those of the Internet")
    func internet() {
        for text in local { #expect(!PeerGroup(text).isOfTheInternet, "\(text)") }
        for text in global { #expect(PeerGroup(text).isOfTheInternet, "\(text)") }
        #expect(!PeerGroup(nil).isOfTheInternet)
    }
}

@Suite("Bounded memory of peers")
struct PeerTableTests {
    private static func peer(_ number: Int) -> PeerGroup {
        PeerGroup("\(1 + number >> 16 & 0x3F).\(number >> 8 & 0xFF).\(number & 0xFF).1")
    }

    @Test("what was set is known, by its scope, and forgotten at once")
    func values() {
        var table = PeerTable(capacity: 64)
        table.set(1, of: Self.peer(1), in: "a")
        table.set(2, of: Self.peer(1), in: "b")
        table.set(3, of: Self.peer(1), in: "a")
        #expect(table.value(of: Self.peer(1), in: "a") == 3)
        #expect(table.value(of: Self.peer(1), in: "b") == 2)
        #expect(table.value(of: Self.peer(1)) == nil)
        #expect(table.value(of: Self.peer(2), in: "a") == nil)
        table.removeAll()
        #expect(table.isEmpty)
    }

    @Test("however many peers come, no more are remembered than it holds, and the heaviest stay")
    func bound() {
        var table = PeerTable(capacity: 256)
        for number in 0..<5 { table.set(1000, of: Self.peer(number)) }
        for number in 5..<20_000 { table.set(Int64(number % 10), of: Self.peer(number)) }
        let known = (0..<20_000).count { table.value(of: Self.peer($0)) != nil }
        #expect(known <= 256)
        #expect(known > 200)
        for number in 0..<5 { #expect(table.value(of: Self.peer(number)) == 1000) }
    }

    @Test("a party with a whole /48 displaces few of the others, though all of its entries are newer")
    func network() {
        var table = PeerTable(capacity: 8192)
        for number in 0..<1000 { table.set(1, of: Self.peer(number)) }
        for number in 0..<65_536 { table.set(2, of: PeerGroup("2001:db8:1:\(String(number, radix: 16))::1")) }
        let left = (0..<1000).count { table.value(of: Self.peer($0)) != nil }
        #expect(left >= 950)
    }
}
