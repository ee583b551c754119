import AssayCore
import AssayKit
import Testing

@Suite("Methods of plugins")
struct MethodTests {
    private struct Empty: RequestMessage {
        static let shape: MessageShape? = []
        init(_ fields: RequestFields) throws(InvalidRequest) {}
    }

    private struct Provider: AttestationProvider {
        struct Configuration: Decodable, Sendable {}
        static let descriptor = PluginDescriptor.provider(
            name: "example", contract: PluginDescriptor.currentContract, summary: "An example.", reasons: [])
        static let methods: [ProviderMethod<Provider>] = []
        init(_ configuration: Configuration, app: AppIdentity, host: PluginHost) {}
    }

    private struct Consumer: TokenConsumer {
        struct Configuration: Decodable, Sendable {}
        static let descriptor = PluginDescriptor.consumer(
            name: "example", contract: PluginDescriptor.currentContract, summary: "An example.", reasons: [])
        static let methods: [ConsumerMethod<Consumer>] = []
        init(_ configuration: Configuration, scope: ConsumerScope, host: PluginHost) {}
        var audiences: [String] { [] }
    }

    @Test("A method is posted to the resource under its own name, in both versions; a key set is fetched")
    func standardRules() {
        let exchange = MethodDescriptor(name: "exchangeX", kind: .exchange(.alone), resources: [.app])
        #expect(
            exchange.rules.map(\.description) == [
                "POST /v1/{resource=projects/*/apps/*}:exchangeX",
                "POST /v1beta/{resource=projects/*/apps/*}:exchangeX",
            ])
        let keys = MethodDescriptor(name: "jwks", kind: .keySet, resources: [])
        #expect(keys.rules.map(\.description) == ["GET /v1/jwks", "GET /v1beta/jwks"])
    }

    @Test("Only calls need a permission; clients' own methods never do")
    func permissions() {
        func permission(_ kind: MethodDescriptor.Kind) -> Permission? {
            MethodDescriptor(name: "m", kind: kind, resources: []).permission
        }
        #expect(permission(.call(.admin)) == .admin)
        #expect(permission(.notOffered(.admin)) == .admin)
        for kind in [MethodDescriptor.Kind.challenge, .exchange(.alone), .exchange(.enclosed), .keySet, .call(nil)] {
            #expect(permission(kind) == nil)
        }
    }

    @Test(
        "What a provider declares becomes a method of its kind, and needs the administrator where nothing else is said")
    func providerMethods() {
        let challenge = ProviderMethod<Provider>.challenge("generateX", resources: [.app, .oauthClient])
        #expect(challenge.descriptor.kind == .challenge)
        #expect(challenge.descriptor.resources == [.app, .oauthClient])
        let exchange = ProviderMethod<Provider>.exchange("exchangeX", reply: .enclosed, takesTokenID: true) {
            (_, _: Empty, _) in .verified
        }
        #expect(exchange.descriptor.kind == .exchange(.enclosed))
        #expect(exchange.descriptor.takesTokenID && exchange.config == nil)
        let call = ProviderMethod<Provider>.call("listX", MethodPath(.get, "/x")) { (_, _: Empty, _) in JSON.null }
        #expect(call.descriptor.permission == .admin)
        let config = ProviderMethod<Provider>.config("xConfig")
        #expect(config.config?.name.isExactly("xConfig") == true)
        #expect(config.descriptor.rules.first?.description == "GET /v1/{resource=projects/*/apps/*}/xConfig")
        #expect(config.descriptor.permission == .admin)
    }

    @Test("A consumer's method is called on a project only where the project chooses the consumer")
    func consumerMethods() throws {
        let rule = HTTPRule(.post, "/x", version: .v1)
        func redeem(_ selection: ConsumerSelection) throws -> MethodDescriptor {
            let method = ConsumerMethod<Consumer>.redeem("x", [rule], selection: selection, binding: .oauth) {
                (_, _: Empty) in
                PreparedRequest { _ in .granted(ConsumerReply([:])) }
            }
            return try #require(method.descriptor)
        }
        #expect(try redeem(.resource).resources == [.project])
        for selection in [ConsumerSelection.tokenProject, .audience("a"), .section(audience: "a", token: nil)] {
            #expect(try redeem(selection).resources.isEmpty)
        }
        #expect(try redeem(.resource).takesToken)
        #expect(try redeem(.resource).binding == .oauth)
        let call = ConsumerMethod<Consumer>.call("y", [rule], permission: nil, selection: .tokenProject) {
            (_, _: Empty, _) in .granted(ConsumerReply([:]))
        }
        #expect(call.descriptor?.takesToken == false)
        #expect(call.descriptor?.permission == nil)
        #expect(ConsumerMethod<Consumer>.exchange { _, _, _ in .refused(Reason("x", "X.")) }.descriptor == nil)
    }
}
