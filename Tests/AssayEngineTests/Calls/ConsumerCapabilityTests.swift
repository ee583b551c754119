import AssayCore
import AssayEngine
import AssayKit
import AssayTesting
import Testing

@Suite("What the kernel does with tokens for consumers")
struct ConsumerCapabilityTests {
    private func look(_ service: ParcelService, _ token: String, _ wish: String = "", bearer: String?) async -> Reply {
        await service.engine.handle(
            Call(
                "lookIntoParcel",
                body: [
                    "audience": .string(ParcelService.audience), "token": .string(token), "wish": .string(wish),
                ], credentials: bearer.flatMap { BearerToken($0) }))
    }

    @Test("A consumer's JWT is signed by a published key, and has its own type")
    func signing() async throws {
        let service = try ParcelService()
        let token = try await service.token()
        let signed = try #require(
            try await service.open(.one(token), "signed").result.get()["token"]?.string)
        let reply = try await look(service, signed, bearer: ParcelService.bearer).result.get()
        #expect(reply["type"] == "parcel+jwt")
        #expect(reply["claims"]?["parcel"] == 1)
        // It is no App Check token.
        #expect(await service.open(.one(signed)).reason == "token_malformed")
        // And none can be had in this way.
        #expect(await service.open(.one(token), "forged").status == .internalError)
        // Nor one that outlives what the descriptor says, or has no end.
        for wish in ["endless", "late"] {
            #expect(await service.open(.one(token), wish).status == .internalError, "\(wish)")
        }
    }

    @Test("A token in a message is inspected by the policy, and used up only on demand")
    func inspection() async throws {
        let service = try ParcelService()
        let debug = try await service.token(debug: true)
        let token = try await service.token(limitedUse: true)
        // One that this service signed is its own, whatever it is: a consumer that asks for that sees App Check tokens too.
        let own = try await look(service, token, bearer: ParcelService.bearer).result.get()
        #expect(own["type"] == "JWT")
        #expect(own["claims"]?["sub"] == .string(ParcelService.app))
        #expect(try await look(service, debug, bearer: ParcelService.bearer).result.get()["type"] == "JWT")
        #expect(try await look(service, "x", bearer: ParcelService.bearer).result.get()["reason"] == "token_malformed")
    }

    @Test("Whoever lacks the permission learns nothing")
    func permission() async throws {
        let service = try ParcelService()
        #expect(await look(service, "x", bearer: nil).status == .unauthenticated)
        #expect(await look(service, "x", bearer: "somebody-elses-token").status == .unauthenticated)
    }
}
