internal import ArgumentParser
internal import AssayExtAuthz
internal import AssayHTTP
internal import AssayKit
internal import Logging

/// Whether and how Envoy's `ext_authz` is answered.
struct ExtAuthzOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Where Envoy asks, over gRPC, whether requests to backends may pass (envoy.service.auth.v3.Authorization); "
                + "gRPC's health service is there, too. Without --ext-authz-tls a Unix socket or an address that only "
                + "this machine reaches.", valueName: "host:port|unix:path"))
    var extAuthzListen: SocketAddress?

    @Flag(help: "Serve it over TLS, with the certificate of --tls-certificate.")
    var extAuthzTls = false

    @Flag(help: "Leave the header X-Firebase-AppCheck in requests that pass; otherwise backends do not get it.")
    var extAuthzForwardToken = false

    func validate() throws {
        guard let address = extAuthzListen else {
            if extAuthzTls || extAuthzForwardToken {
                throw ValidationError("--ext-authz-tls and --ext-authz-forward-token need --ext-authz-listen")
            }
            return
        }
        if !extAuthzTls, !address.isLocal {
            throw ValidationError(
                "--ext-authz-listen takes a Unix socket or an address of this machine alone, such as 127.0.0.1, unless "
                    + "--ext-authz-tls is given")
        }
    }

    /// The service; nil when there is none.
    ///
    /// - Throws: ``ExtAuthzError`` when the handler has no method that decides.
    func service(
        _ handler: any CallHandler, certificate: ServerCertificate?, logger: Logger, meter: Meter
    ) throws -> ExtAuthzService? {
        guard let address = extAuthzListen else { return nil }
        return try ExtAuthzService(
            handler: handler,
            configuration: ExtAuthzConfiguration(
                address: address.extAuthz, certificate: extAuthzTls ? certificate : nil,
                forwardsToken: extAuthzForwardToken),
            logger: logger, meter: meter
        ) { logger.info("ext_authz is answered", metadata: ["address": "\($0)"]) }
    }
}
