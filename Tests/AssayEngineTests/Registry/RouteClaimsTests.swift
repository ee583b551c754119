import AssayCore
import AssayEngine
import AssayKit
import Testing

@Suite("HTTP rules of a registry")
struct RouteClaimsTests {
    private static let pages = ReservedNames(
        owner: "the HTTP server", rules: [HTTPRule(.get, "/healthz", version: .v1)])

    private func message(_ methods: [ConsumerMethod<DeclaredConsumer>]) -> String {
        do {
            try DeclaredConsumer.$methods.withValue(methods) {
                _ = try Registry(
                    [.consumer(OtherConsumer.self), .consumer(DeclaredConsumer.self)], reserved: [Self.pages])
            }
            return "no error"
        } catch {
            return "\(error)"
        }
    }

    @Test(
        "Rules that lead to two methods are refused at start, and both owners are named",
        arguments: [
            (HTTPRule(.get, "/healthz", version: .v1), "'GET /healthz' is claimed by both the HTTP server and Decl"),
            (HTTPRule(.any, "/healthz", version: .v1), "'GET /healthz' of the HTTP server and '* /healthz' of Decl"),
            (HTTPRule(.get, "/v1/jwks", version: .v1), "'GET /v1/jwks' is claimed by both the kernel and Declared"),
            (HTTPRule(.post, "/parts", version: .v1), "'POST /parts' is claimed by both OtherConsumer and Declared"),
            (HTTPRule(.any, "/parts", version: .v1), "'POST /parts' of OtherConsumer and '* /parts' of DeclaredCons"),
            (HTTPRule(.get, "/parts/{id}/all", version: .v1), "'GET /parts/{part}/all' of OtherConsumer and 'GET /p"),
            (HTTPRule(.get, "/parts/small/{x}", version: .v1), "'GET /parts/{part}/all' of OtherConsumer and 'GET /p"),
            (
                HTTPRule(.post, "/v1/{name=projects/*}:verifyAppCheckToken", version: .v1),
                "'POST /v1/{resource=projects/*}:verifyAppCheckToken' of the kernel and"
            ),
            (HTTPRule(.get, "no/slash", version: .v1), "the HTTP rule 'GET no/slash' is not a template"),
            (HTTPRule(.get, "/a/{b", version: .v1), "is not a template"),
            (HTTPRule(.get, "/a\u{1B}", version: .v1), "is not a template"),
        ])
    func conflicts(_ rule: HTTPRule, _ words: String) {
        let text = message([DeclaredConsumer.call("getThing", rule)])
        #expect(text.contains(words), "\(text)")
        #expect(!text.contains("\u{1B}"))
    }

    @Test(
        "Other rules beside them are accepted",
        arguments: [
            HTTPRule(.post, "/healthz", version: .v1), HTTPRule(.get, "/parts", version: .v1),
            HTTPRule(.get, "/parts/small/all", version: .v1), HTTPRule(.get, "/parts/{id}/some", version: .v1),
            HTTPRule(.post, "/parts/{id}/all", version: .v1), HTTPRule(.get, "/parts/{id}/all:count", version: .v1),
            HTTPRule(.get, "/{anything}", version: .v1),
        ])
    func accepts(_ rule: HTTPRule) {
        #expect(message([DeclaredConsumer.call("getThing", rule)]) == "no error")
    }

    @Test("Within a plugin a rule is for one method, and one for any HTTP method may stand beside it")
    func within() {
        let get = HTTPRule(.get, "/things/{id}", version: .v1)
        let text = message([DeclaredConsumer.call("getThing", get), DeclaredConsumer.call("readThing", get)])
        #expect(text == "the HTTP rule 'GET /things/{id}' is claimed by both DeclaredConsumer and DeclaredConsumer")
        let any = HTTPRule(.any, "/things/{id}", version: .v1)
        #expect(
            message([DeclaredConsumer.call("getThing", get), DeclaredConsumer.call("anyThing", any)]) == "no error")
    }

    @Test("A method that is not offered gives way to a plugin's rule for the same paths")
    func unoffered() throws {
        let known = MethodDescriptor(
            name: "getNothing", kind: .notOffered(nil), resources: [],
            rules: [HTTPRule(.get, "/things/{name}", version: .v1), HTTPRule(.get, "/nothing", version: .v1)])
        let rule = HTTPRule(.any, "/things/{id}", version: .v1)
        try DeclaredConsumer.$methods.withValue([DeclaredConsumer.call("getThing", rule)]) {
            let registry = try Registry([.consumer(DeclaredConsumer.self)], unoffered: [known, known])
            let found = registry.methods.filter { $0.name == "getNothing" }
            #expect(found.map { $0.rules.map(\.description) } == [["GET /nothing"]])
        }
    }
}
