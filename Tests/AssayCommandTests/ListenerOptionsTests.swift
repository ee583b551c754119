import AssayTestSupport
import Testing

/// Options of `assay serve` that mean nothing, and a word of what is said about them.
private let wrongOptions: [([String], String)] = [
    (["--allow-origin", "https://app.example.com/"], "scheme"), (["--allow-origin", "*"], "scheme"),
    (["--allow-origin", "any", "--allow-origin", "https://app.example.com"], "cannot be combined"),
    (["--tls-certificate", "server.pem"], "together"), (["--tls-key", "server.key"], "together"),
    (["--max-connections", "0"], "1 to"), (["--max-body-bytes", "10"], "1024 to"),
    (["--max-header-bytes", "1000000000"], "1024 to"), (["--receive-time", "0"], "1 to"),
    (["--idle-time", "99999999999999999999"], "idle-time"),
    (["--ext-authz-listen", "0.0.0.0:9191"], "--ext-authz-tls"),
    (["--ext-authz-listen", "127.example.com:9191"], "--ext-authz-tls"),
    (["--ext-authz-listen", "0.0.0.0:9191", "--ext-authz-tls"], "--tls-certificate"),
    (["--ext-authz-listen", "unix:"], "ext-authz-listen"), (["--ext-authz-tls"], "--ext-authz-listen"),
    (["--ext-authz-forward-token"], "--ext-authz-listen"), (["--ext-authz-client-ca", "ca.pem"], "--ext-authz-listen"),
    (["--ext-authz-listen", "127.0.0.1:9191", "--ext-authz-client-ca", "ca.pem"], "--ext-authz-tls"),
    (["--ext-authz-socket-mode", "0660"], "--ext-authz-listen"),
    (["--ext-authz-listen", "127.0.0.1:9191", "--ext-authz-socket-mode", "0660"], "Unix socket"),
    (["--ext-authz-listen", "unix:a", "--ext-authz-socket-mode", "0477"], "ext-authz-socket-mode"),
    (["--ext-authz-listen", "unix:a", "--ext-authz-socket-mode", "1777"], "ext-authz-socket-mode"),
    (["--ext-authz-listen", "unix:a", "--ext-authz-socket-mode", "660u"], "ext-authz-socket-mode"),
    (["--socket-mode", "0660"], "Unix socket"), (["--listen", "unix:a", "--socket-mode", "0477"], "socket-mode"),
    (["--listen", "unix:"], "--listen"), (["--ext-authz-listen", "systemd:"], "--ext-authz-tls"),
    (["--ext-authz-max-connections", "3"], "4 to"),
    (["--trusted-proxy", "proxy.example.com"], "--trusted-proxy"),
    (["--trusted-proxy", "10.0.0.0/33"], "--trusted-proxy"),
    (["--trusted-proxy", "0.0.0.0/0"], "--trusted-proxy"), (["--trusted-proxy", "::/0"], "--trusted-proxy"),
]

@Suite("Options for the listener")
struct ListenerOptionsTests {
    @Test("what means nothing is refused before anything is opened", arguments: wrongOptions)
    func wrong(options: [String], words: String) async throws {
        let process = try AssayProcess(["serve", "--policies", "/proc/no/such/file"] + options)
        let result = await process.result()
        #expect(result.status == 2)
        #expect(result.errors.contains(words))
        #expect(!result.errors.contains("/proc/no/such/file"))
    }

    @Test("a certificate that cannot be read keeps the server from starting")
    func certificate() async throws {
        let process = try AssayProcess([
            "serve", "--policies", "/proc/no/such/file", "--state", "memory", "--tls-certificate",
            "/proc/no/such/certificate", "--tls-key", "/proc/no/such/key",
        ])
        let result = await process.result()
        #expect(result.status == 2)
        #expect(result.errors.contains("cannot open /proc/no/such/certificate"))
        #expect(result.output.isEmpty)
    }
}
