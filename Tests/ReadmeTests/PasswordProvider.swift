import AssayCore
import AssayCrypto
import AssayKit

struct PasswordProvider: AttestationProvider {
    struct Configuration: Decodable, Sendable { let password: SecretReference }

    struct Request: RequestMessage {
        let password: String
        init(_ fields: RequestFields) throws(InvalidRequest) { password = try fields.string("password") }
    }

    static let wrongPassword = Reason("password_wrong", "The password is not the one of the policy.")
    static let descriptor = PluginDescriptor.provider(
        name: "password", summary: "A password.", reasons: [wrongPassword])
    static let methods: [ProviderMethod<PasswordProvider>] = [
        .exchange("exchangePassword") { (provider, request: Request, context) in
            SHA256.hash(Array(request.password.utf8)) == provider.digest ? .verified : .refused(wrongPassword)
        }
    ]

    private let digest: [UInt8]

    init(_ configuration: Configuration, app: AppIdentity, host: PluginHost) throws(ConfigurationError) {
        digest = SHA256.hash(try host.secrets.required(configuration.password, at: ["password"]))
    }
}
