import AssayCore
import AssayHTTPServer
import Testing

@Suite("Addresses of listeners, and how many connections fit")
struct ListenerAddressTests {
    @Test(
        "An address is written so that a reader can tell its port",
        arguments: [
            (ListenerAddress.host("127.0.0.1", port: 80), "127.0.0.1:80"), (.host("::1", port: 8080), "[::1]:8080"),
            (.host("localhost", port: 0), "localhost:0"), (.unixSocket("/run/a.sock"), "unix:/run/a.sock"),
            (.unixSocket("/run/a b", mode: 0o666), "unix:/run/a b"), (.systemd(), "systemd:"),
            (.systemd(name: "web"), "systemd:web"),
        ])
    func written(_ address: ListenerAddress, _ text: String) {
        #expect(address.description.isExactly(text))
    }

    @Test("Only an address with a port has one")
    func port() {
        #expect(ListenerAddress.host("a", port: 7).port == 7)
        #expect(ListenerAddress.unixSocket("a").port == nil)
        #expect(ListenerAddress.systemd().port == nil)
    }

    @Test("Connections never take all files that a process may open, and at least one always fits")
    func openFiles() {
        let connections = OpenFileLimit.connections
        #expect(connections >= 1)
        if let current = OpenFileLimit.current {
            #expect(connections < max(current, 2))
        } else {
            #expect(connections == .max)
        }
    }

    @Test("Raising the limit never lowers it, and doing so twice is as good as once")
    func raise() {
        let before = OpenFileLimit.current ?? .max
        OpenFileLimit.raise()
        let raised = OpenFileLimit.current ?? .max
        #expect(raised >= before)
        OpenFileLimit.raise()
        #expect((OpenFileLimit.current ?? .max) == raised)
    }
}
