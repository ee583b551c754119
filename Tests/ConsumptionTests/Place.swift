import AssayCore
import AssayCrypto
import AssayEngine
import AssayKit
import AssayOAuthClient
import Testing

/// A place where an app shows its token.
enum Place: String, CaseIterable, Sendable {
    case verification
    case backend, countingBackend, onceBackend, watchedBackend, openBackend
    case service, countingService, onceService, watchedService, openService
    case separateService, unprotectedService
    case fleetEngine, fleetEngineExchange, attestation, attestationExchange, assertion

    /// What the use of a token comes to at a place.
    enum Rule: Sendable {
        /// It does not count.
        case free
        /// It counts everywhere, and a second one is let through.
        case spent
        /// It counts everywhere, and a second one is refused.
        case once
        /// It is only counted.
        case counted
        /// It counts here alone, and a second one is refused here.
        case separate

        var isRefusing: Bool { self == .once || self == .separate }
    }

    /// The whole table.
    func rule(limitedUse: Bool) -> Rule {
        switch self {
        case .verification, .onceBackend, .onceService, .assertion: .once
        case .backend, .service, .fleetEngine, .fleetEngineExchange, .attestation, .attestationExchange:
            limitedUse ? .once : .free
        case .countingBackend, .countingService: limitedUse ? .once : .counted
        case .watchedBackend, .watchedService: limitedUse ? .spent : .counted
        case .separateService: .separate
        case .openBackend, .openService, .unprotectedService: .free
        }
    }

    /// Whether a second use here is refused after a first one elsewhere, or here.
    func refuses(after first: Place, limitedUse: Bool) -> Bool {
        switch rule(limitedUse: limitedUse) {
        case .free, .spent, .counted: false
        case .separate: first == self
        case .once: [.spent, .once].contains(first.rule(limitedUse: limitedUse))
        }
    }

    private static let jwk = Result { ClientKey(try PrivateKey.generate(.ec(.p256)).publicKey).jwk }

    /// Shows a token here.
    ///
    /// Returns whether it is accepted; false when it was used before.
    func accepts(_ token: String, _ service: PlacesService) async throws -> Bool {
        switch self {
        case .verification:
            let reply = await service.call(
                "verifyAppCheckToken", ["appCheckToken": .string(token)], resource: "projects/1234567890",
                as: PlacesService.admin)
            return try reply.result.get()["alreadyConsumed"] == nil
        case .backend: return await ask("plain", token, service)
        case .countingBackend: return await ask("counted", token, service)
        case .onceBackend: return await ask("once", token, service)
        case .watchedBackend: return await ask("watched", token, service)
        case .openBackend: return await ask("open", token, service)
        case .service: return await protect("plain.example.com", token, service)
        case .countingService: return await protect("counted.example.com", token, service)
        case .onceService: return await protect("once.example.com", token, service)
        case .watchedService: return await protect("watched.example.com", token, service)
        case .openService: return await protect("open.example.com", token, service)
        case .separateService: return await protect("apart", token, service)
        case .unprotectedService: return await protect("unprotected", token, service)
        case .fleetEngine:
            return accepted(
                await service.call(
                    "fleetEngineDriverToken", ["vehicleId": "v"], token: token, as: service.user))
        case .fleetEngineExchange:
            let vehicle = "\(PlacesService.fleet)v1/providers/example-project/vehicles/v"
            return accepted(
                await service.exchange(
                    token, ["audience": .string(PlacesService.fleet), "resource": .string(vehicle)],
                    actor: service.user))
        case .attestation:
            return accepted(await service.call("attestClient", ["jwk": try Self.jwk.get()], token: token))
        case .attestationExchange:
            let text = String(decoding: try Self.jwk.get().encoded, as: UTF8.self)
            return accepted(
                await service.exchange(
                    token, ["audience": .string(PlacesService.server), "client_jwk": .string(text)]))
        case .assertion:
            let reply = await service.call(
                "verifyClientAssertion",
                [
                    "audience": .string(PlacesService.server), "client_id": "mapped-client",
                    "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:appcheck",
                    "client_assertion": .string(token),
                ], as: PlacesService.admin)
            guard case .failure(let failure) = reply.result else { return true }
            #expect(failure.detail == "token_reused")
            return false
        }
    }

    private func ask(_ backend: String, _ token: String, _ service: PlacesService) async -> Bool {
        accepted(await service.call("verifyRequest", ["backend": .string(backend)], token: token))
    }

    private func protect(_ id: String, _ token: String, _ service: PlacesService) async -> Bool {
        let protection = await service.engine.protect(
            ProtectedRequest(project: "example-project", service: id, token: token))
        return accepted(Reply(decision: protection.decision, result: protection.result.map { _ in [:] }))
    }

    private func accepted(_ reply: Reply) -> Bool {
        guard case .failure(let failure) = reply.result else { return true }
        #expect(failure.reason?.code == "token_reused", "\(self): \(failure.message) \(failure.detail ?? "")")
        return false
    }
}
