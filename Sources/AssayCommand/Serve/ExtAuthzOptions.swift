internal import ArgumentParser
internal import AssayCore
internal import AssayServer

#if ExtAuthz
internal import AssayExtAuthz
#endif

/// Whether and how Envoy's `ext_authz` is answered; a build without the package trait `ExtAuthz` refuses these options.
struct ExtAuthzOptions: ParsableArguments {
    #if ExtAuthz
    private static let isBuilt = true
    private static let standardConnections = ExtAuthzLimits().maximumConnections
    #else
    private static let isBuilt = false
    private static let standardConnections = 256
    #endif

    /// Options that do nothing are not in the help.
    private static let visibility: ArgumentVisibility = isBuilt ? .default : .hidden

    @Option(
        help:
            "The address for Envoy's questions over gRPC whether requests to backends may pass (envoy.service.auth.v3.Authorization); "
            + "it also serves gRPC's health service. Without --ext-authz-tls, a Unix socket or an address that only "
            + "this machine can reach.", valueName: "host:port|unix:path|systemd:name", visibility: visibility,
        reading: .socketAddress)
    var extAuthzListen: SocketAddress?

    @Flag(help: ArgumentHelp("Serve it over TLS, with the certificate of --tls-certificate.", visibility: visibility))
    var extAuthzTls = false

    @Flag(
        help: ArgumentHelp(
            "Leave the header X-Firebase-AppCheck in allowed requests; otherwise backends do not receive it.",
            visibility: visibility))
    var extAuthzForwardToken = false

    @Option(
        help: ArgumentHelp(
            "Accept only clients with a certificate that one of these authorities issued, in PEM form; read again as the "
                + "server's certificate is. Needs --ext-authz-tls.", valueName: "file", visibility: visibility),
        completion: .file(extensions: ["pem", "crt"]))
    var extAuthzClientCa: String?

    @Option(
        help: "The permissions of the Unix socket; by default only the user that the server runs as may connect.",
        valueName: "octal", visibility: visibility, reading: .socketMode)
    var extAuthzSocketMode: SocketMode?

    @Option(
        help:
            "The most connections at once; one peer address may have a quarter of them. Envoy has one for each of its worker "
            + "threads.", valueName: "number", visibility: visibility, reading: .number(4...65_536))
    var extAuthzMaxConnections = standardConnections

    func validate() throws {
        if !Self.isBuilt, isUsed {
            throw ValidationError(
                "this program was built without --ext-authz-listen and what belongs to it: build it with the package "
                    + "trait ExtAuthz")
        }
        guard let address = extAuthzListen else {
            if extAuthzTls || extAuthzForwardToken || extAuthzClientCa != nil || extAuthzSocketMode != nil {
                throw ValidationError(
                    "--ext-authz-tls, --ext-authz-client-ca, --ext-authz-socket-mode and --ext-authz-forward-token need "
                        + "--ext-authz-listen")
            }
            return
        }
        if extAuthzClientCa != nil, !extAuthzTls {
            throw ValidationError("--ext-authz-client-ca needs --ext-authz-tls")
        }
        if extAuthzSocketMode != nil, !address.isUnixSocket {
            throw ValidationError("--ext-authz-socket-mode needs a Unix socket in --ext-authz-listen")
        }
        if !extAuthzTls, !address.isLocal {
            throw ValidationError(
                "--ext-authz-listen needs a Unix socket or an address of this machine, such as 127.0.0.1, unless "
                    + "--ext-authz-tls is given")
        }
    }

    /// Whether any of these options is given.
    private var isUsed: Bool {
        extAuthzListen != nil || extAuthzTls || extAuthzForwardToken || extAuthzClientCa != nil
            || extAuthzSocketMode != nil || extAuthzMaxConnections != Self.standardConnections
    }

    /// Checks what this group of options needs of another one.
    func validate(with tls: TLSOptions) throws {
        if extAuthzTls, tls.tlsCertificate == nil {
            throw ValidationError("--ext-authz-tls needs --tls-certificate FILE and --tls-key FILE")
        }
    }

    /// The listener; nil when there is none.
    var listener: AuthorizationListener? {
        extAuthzListen.map { address in
            var listener = AuthorizationListener(address: address.address(mode: extAuthzSocketMode))
            listener.usesTLS = extAuthzTls
            listener.clientAuthorityFile = extAuthzClientCa
            listener.forwardsToken = extAuthzForwardToken
            listener.maximumConnections = extAuthzMaxConnections
            return listener
        }
    }
}

/// Permissions of a file, as `chmod` takes them in digits.
struct SocketMode: Sendable {
    let bits: UInt16
}

extension ArgumentReader<SocketMode> {
    /// Three octal digits, or four with a leading zero.
    static var socketMode: Self {
        ArgumentReader(
            accepted: "octal digits such as 660, by which the server's own user can read and write",
            text: { String($0.bits, radix: 8) }
        ) { text throws(ArgumentCause) in
            guard (3...4).contains(text.utf8.count), text.utf8.allSatisfy(\.isASCIIDigit),
                let bits = UInt16(text, radix: 8)
            else { throw "not three octal digits" }
            guard bits <= 0o777 else { throw "more than permissions" }
            // Who serves must be able to connect, and see that the socket is in use.
            guard bits & 0o600 == 0o600 else { throw "the server itself could not connect" }
            return SocketMode(bits: bits)
        }
    }
}
