import AssayCore
import AssayCrypto
import AssayEngine
import AssayKit
import AssayServices
import AssayTesting
import Testing

@Suite("What is good once is good once, wherever it is shown")
struct ConsumptionTests {
    @Test(
        "Two uses of one token: the second is accepted or refused as the table of places says, and introspection agrees",
        arguments: Place.allCases, [true, false])
    func pairs(_ first: Place, _ limitedUse: Bool) async throws {
        let service = try PlacesService()
        for second in Place.allCases {
            let token = try await service.token(limitedUse: limitedUse)
            #expect(try await service.introspect(token))
            #expect(try await first.accepts(token, service), "\(first) first")
            let isUsed = [.spent, .once, .separate].contains(first.rule(limitedUse: limitedUse))
            #expect(try await service.introspect(token) == !isUsed, "\(first), then introspection")
            let isAccepted = try await second.accepts(token, service)
            #expect(
                isAccepted == !second.refuses(after: first, limitedUse: limitedUse), "\(first), then \(second)")
        }
    }

    @Test("Of fifty requests at once with one token, shown everywhere, one is accepted", arguments: [true, false])
    func concurrent(_ limitedUse: Bool) async throws {
        let places = Place.allCases.filter { $0.rule(limitedUse: limitedUse) == .once }
        let service = try PlacesService()
        let token = try await service.token(limitedUse: limitedUse)
        let accepted = try await withThrowingTaskGroup(of: Bool.self) { group in
            for index in 0..<50 {
                group.addTask { try await places[index % places.count].accepts(token, service) }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(accepted == 1)
    }

    @Test("A session token that is only counted is counted as used before in the next place, and stays valid")
    func counted() async throws {
        let service = try PlacesService()
        let categories = { service.sink.records.compactMap(\.tokenUse?.category) }
        let token = try await service.token(limitedUse: false)
        for place in [Place.countingBackend, .countingService, .watchedService] {
            #expect(try await place.accepts(token, service))
        }
        #expect(categories() == [.verified, .reused, .reused])
        #expect(try await Place.verification.accepts(token, service))
        let second = try await service.token(limitedUse: false)
        #expect(try await Place.verification.accepts(second, service))
        #expect(try await Place.countingService.accepts(second, service))
        #expect(categories().suffix(2) == [.verified, .reused])
    }

    @Test("A policy may have verifyAppCheckToken count by itself, as Google's service does; introspection sees both")
    func separateVerification() async throws {
        let service = try PlacesService(verification: "{consumption: separate}")
        for place in Place.allCases where place.rule(limitedUse: true) == .once && place != .verification {
            let token = try await service.token()
            #expect(try await place.accepts(token, service))
            #expect(try await Place.verification.accepts(token, service), "\(place)")
            #expect(try await !Place.verification.accepts(token, service))
            let other = try await service.token()
            #expect(try await Place.verification.accepts(other, service))
            #expect(try await !service.introspect(other))
            #expect(try await place.accepts(other, service), "\(place)")
            #expect(try await !place.accepts(other, service))
        }
    }

    @Test("Services that count by themselves do not know of each other's uses")
    func separateServices() async throws {
        let service = try PlacesService()
        let token = try await service.token()
        for id in ["apart", "second_apart"] {
            for isFirst in [true, false] {
                let request = ProtectedRequest(project: "example-project", service: id, token: token)
                let isAccepted = await (try? service.engine.protect(request).result.get()) != nil
                #expect(isAccepted == isFirst)
            }
        }
    }

    @Test("The name of a request gets its first answer again from verifyAppCheckToken, and opens nothing else")
    func requestID() async throws {
        let service = try PlacesService()
        func verify(_ token: String) async throws -> Bool {
            let reply = await service.call(
                "verifyAppCheckToken", ["appCheckToken": .string(token), "requestId": "5c0a4a52-9c1f-4e7d"],
                resource: "projects/1234567890", as: PlacesService.admin)
            return try reply.result.get()["alreadyConsumed"] == nil
        }
        let token = try await service.token()
        for _ in 0..<2 { #expect(try await verify(token)) }
        #expect(try await !Place.backend.accepts(token, service))
        let other = try await service.token()
        #expect(try await Place.backend.accepts(other, service))
        #expect(try await !verify(other))
    }

    @Test("Of a token that is older than the state it is not known whether it was used: it counts as used")
    func youngerState() async throws {
        let (clock, keys) = (ManualClock(), KeyStore.pooled())
        let before = try PlacesService(clock: clock, keys: keys)
        let limited = try await before.token()
        let session = try await before.token(limitedUse: false)
        clock.advance(by: .seconds(2))
        let after = try PlacesService(clock: clock, keys: keys)
        #expect(try await !after.introspect(limited))
        #expect(try await after.introspect(session))
        for place in Place.allCases where place.rule(limitedUse: true).isRefusing {
            #expect(try await !place.accepts(limited, after), "\(place)")
        }
        #expect(try await after.introspect(after.token()))
    }

    @Test("Each use of a good token is on record by itself, also one that is refused because it was used before")
    func records() async throws {
        let service = try PlacesService()
        let token = try await service.token()
        for place in [Place.backend, .backend, .service, .watchedService] {
            _ = try await place.accepts(token, service)
        }
        let records = service.sink.records.filter { $0.tokenUse != nil }
        #expect(records.compactMap(\.tokenUse?.category) == [.verified, .reused, .reused, .reused])
        #expect(records.compactMap(\.tokenUse?.isAdmitted) == [true, false, false, true])
        // What nothing verified stands behind is sampled and summed.
        #expect(records.map(\.basis) == [.verified, .verified, .verified, .verified])
    }

    private func service(_ service: PlacesService, _ place: Place, _ token: String) async throws -> Bool {
        try await place.accepts(token, service)
    }

    @Test("A token of another project is refused, and is not consumed by the attempt")
    func otherProject() async throws {
        let service = try PlacesService()
        let token = try await service.token()
        let reply = await service.call(
            "verifyAppCheckToken", ["appCheckToken": .string(token)], resource: "projects/2", as: PlacesService.admin)
        #expect(reply.reason == "token_audience")
        #expect(try await Place.verification.accepts(token, service))
    }

    @Test("A clock that goes ahead and back again makes no used token good", arguments: [Place.verification, .backend])
    func clockSetBack(_ place: Place) async throws {
        let service = try PlacesService()
        let token = try await service.token()
        #expect(try await place.accepts(token, service))
        service.clock.advance(by: .seconds(3500))
        // Whatever is written has the store forget what has expired.
        for _ in 0..<8 { #expect(try await place.accepts(try await service.token(), service)) }
        service.clock.advance(by: .seconds(-3400))
        #expect(try await !place.accepts(token, service))
    }

    @Test("Where the store fails, what counts is not decided, and what is only counted is let through")
    func storeDown() async throws {
        let service = try PlacesService()
        for limitedUse in [true, false] {
            for place in Place.allCases where place.rule(limitedUse: limitedUse) != .once {
                guard place.rule(limitedUse: limitedUse) != .separate else { continue }
                let token = try await service.token(limitedUse: limitedUse)
                service.store.isFailing = true
                #expect(try await place.accepts(token, service), "\(place)")
                service.store.isFailing = false
            }
            let token = try await service.token(limitedUse: limitedUse)
            service.store.isFailing = true
            for id in ["once.example.com", "apart"] {
                let request = ProtectedRequest(project: "example-project", service: id, token: token)
                guard case .failure(let failure) = await service.engine.protect(request).result else {
                    Issue.record("\(id): it is let through")
                    continue
                }
                #expect(failure.status == .unavailable)
            }
            service.store.isFailing = false
        }
    }
}
