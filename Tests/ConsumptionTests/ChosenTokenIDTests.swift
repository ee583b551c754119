import AssayCore
import AssayEngine
import AssayKit
import Testing

@Suite("Identifiers of tokens that callers choose")
struct ChosenTokenIDTests {
    private static let id = "order-0123456789"
    private static let first = "first-token-0123456789"
    private static let second = "second-token-0123456789"

    private let service: PlacesService

    init() throws {
        service = try PlacesService()
    }

    private func claims(of token: String) throws -> JSON {
        let payload = token.split(separator: ".").dropFirst().first
        return try JSON.parse(try #require(payload.flatMap { Base64.decode($0) }))
    }

    @Test("Tokens of one caller with one identifier count as one, wherever they are shown")
    func oneCaller() async throws {
        for place in [Place.verification, .backend, .service, .attestation] {
            let id = "\(Self.id)-\(place)"
            let tokens = [
                try await service.token(id: id, as: Self.first), try await service.token(id: id, as: Self.first),
            ]
            #expect(try await place.accepts(tokens[0], service))
            #expect(try await !Place.verification.accepts(tokens[1], service), "\(place)")
        }
    }

    @Test("No caller uses up another's token by choosing its identifier, random ones included")
    func otherCallers() async throws {
        let mine = try await service.token(id: Self.id, as: Self.first)
        let copy = try await service.token(id: Self.id, as: Self.second)
        #expect(try await Place.verification.accepts(copy, service))
        #expect(try await Place.backend.accepts(mine, service))

        let random = try await service.token(as: Self.first)
        let id = try #require(try claims(of: random)["jti"]?.string)
        for caller in [Self.first, Self.second] {
            #expect(try await Place.verification.accepts(try await service.token(id: id, as: caller), service))
        }
        #expect(try await Place.verification.accepts(random, service))
    }

    @Test("Tokens of two apps with one identifier are two, chosen or not")
    func apps() async throws {
        // Every random identifier is the same.
        let service = try PlacesService(randomness: Randomness { [UInt8](repeating: 7, count: $0) })
        for id in [Self.id, nil] {
            for app in [PlacesService.app, PlacesService.secondApp] {
                let token = try await service.token(id: id, for: app, as: Self.first)
                #expect(try await Place.verification.accepts(token, service), "\(app)")
                #expect(try await !Place.verification.accepts(token, service), "\(app)")
                #expect(try await !Place.backend.accepts(token, service), "\(app)")
            }
        }
        let mine = try await service.token(id: "other-0123456789", for: PlacesService.app, as: Self.first)
        let other = try await service.token(id: "other-0123456789", for: PlacesService.secondApp, as: Self.first)
        for token in [mine, other] { #expect(try await Place.backend.accepts(token, service)) }
        for token in [mine, other] { #expect(try await !Place.backend.accepts(token, service)) }
    }

    @Test("No holder of evidence uses up the token of another holder, nor one that was minted")
    func holders() async throws {
        func token(_ holder: String?) async throws -> String {
            let reply = await service.call(
                "exchangeWord",
                [
                    "limitedUse": true, "jti": .string(Self.id),
                    "holder": holder.map { .string($0) } ?? .null,
                ], resource: "projects/1234567890/apps/\(PlacesService.app)")
            return try #require(try reply.result.get()["token"]?.string)
        }
        for holder in ["user-1", "user-2", nil] {
            #expect(try await Place.verification.accepts(try await token(holder), service))
            #expect(try await !Place.verification.accepts(try await token(holder), service))
        }
        let minted = try await service.token(id: Self.id, as: Self.first)
        #expect(try await Place.verification.accepts(minted, service))
    }

    @Test("A token says in a claim of its own who chose its identifier, without a name, and only where somebody did")
    func claim() async throws {
        let chosen = try claims(of: try await service.token(id: Self.id, as: Self.first))
        #expect(chosen["jti"] == .string(Self.id))
        #expect(chosen["jti_by"]?.string?.utf8.count == 22)
        // The state began with the first token, less than a minute ago.
        #expect(
            chosen.members?.map(\.name) == ["sub", "aud", "provider", "iss", "exp", "iat", "jti", "state", "jti_by"])
        let again = try claims(of: try await service.token(id: "another-0123456789", as: Self.first))
        #expect(again["jti_by"] == chosen["jti_by"])
        let other = try claims(of: try await service.token(id: Self.id, as: Self.second))
        #expect(other["jti_by"] != chosen["jti_by"])
        #expect(try claims(of: try await service.token(as: Self.first))["jti_by"] == nil)
    }
}
