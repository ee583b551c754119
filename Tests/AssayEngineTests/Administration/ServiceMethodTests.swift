import AssayCore
import AssayEngine
import AssayKit
import AssayPolicy
import AssayTesting
import Testing

@Suite("The methods of services")
struct ServiceMethodTests {
    private static let name = "projects/1234567890/services/firestore.googleapis.com"
    private static let project = """
        services: {firestore.googleapis.com: {enforcement: UNENFORCED, editable: true},
          orders.example.com: {enforcement: ENFORCED, replay_protection: ENFORCED},
          places.googleapis.com: {editable: true}}
        """

    private let service: AdminService

    init() throws {
        service = try AdminService(project: Self.project)
    }

    private func get(_ id: String) async throws -> JSON {
        try await service.call("getService", AdminService.project, ["serviceId": .string(id)]).result.get()
    }

    private func patch(_ id: String, _ mask: String?, _ message: JSON) async -> Reply {
        var members = [JSONMember("serviceId", .string(id)), JSONMember("service", message)]
        if let mask { members.append(JSONMember("updateMask", .string(mask))) }
        return await service.call("updateService", AdminService.project, .object(members))
    }

    private func fields(_ message: JSON) -> [String] {
        (message.members ?? []).filter { !["name", "etag", "updateTime"].contains($0.name) }
            .map { "\($0.name)=\($0.value.string ?? "")" }
    }

    @Test("A service shows its levels, without those that are OFF; a strong etag; and the epoch where nobody set any")
    func shown() async throws {
        let firestore = try await get("firestore.googleapis.com")
        #expect(firestore["name"]?.string == Self.name)
        #expect(fields(firestore) == ["enforcementMode=UNENFORCED"])
        #expect(firestore["updateTime"]?.string == "2026-11-21T12:00:00Z")
        let etag = try #require(firestore["etag"]?.string)
        #expect(etag.hasPrefix("\"") && etag.hasSuffix("\"") && etag.count > 10)
        #expect(
            fields(try await get("orders.example.com"))
                == ["enforcementMode=ENFORCED", "replayProtection=ENFORCED"])
        let unset = try await get("firebaseml.googleapis.com")
        #expect(fields(unset) == [])
        #expect(unset["updateTime"]?.string == "1970-01-01T00:00:00Z")
    }

    @Test(
        "A service that there is not is told so in Google's words",
        arguments: ["fire.googleapis.com", "nobody.example.com", "a b"])
    func unsupported(_ id: String) async throws {
        for reply in [
            await service.call("getService", AdminService.project, ["serviceId": .string(id)]),
            await patch(id, "enforcementMode", [:]),
        ] {
            guard case .failure(let failure) = reply.result else {
                Issue.record("it succeeded")
                continue
            }
            #expect(failure.status == .invalidArgument)
            #expect(failure.message.hasPrefix("Service not supported"))
        }
    }

    @Test("Only services that somebody configured are listed, in pages")
    func list() async throws {
        let all = try await service.call("listServices").result.get()
        let names = ["firestore.googleapis.com", "orders.example.com", "places.googleapis.com"].map {
            "projects/1234567890/services/\($0)"
        }
        #expect(all["services"]?.array?.compactMap { $0["name"]?.string } == names)
        #expect(all["nextPageToken"] == nil)
        var found: [String] = []
        var token = ""
        repeat {
            let page = try await service.call(
                "listServices", AdminService.project, ["pageSize": "1", "pageToken": .string(token)]
            ).result.get()
            found += page["services"]?.array?.compactMap { $0["name"]?.string } ?? []
            token = page["nextPageToken"]?.string ?? ""
        } while !token.isEmpty && found.count < 10
        #expect(found == names)
        #expect(try await service.call("listServices", "projects/2").result.get() == [:])
        for wrong: JSON in [["pageSize": "-1"], ["pageSize": "x"], ["pageToken": "%%"]] {
            #expect(await service.call("listServices", AdminService.project, wrong).status == .invalidArgument)
        }
    }

    @Test(
        "An update sets what its mask names, and what it leaves out goes back to OFF",
        arguments: [
            ("enforcementMode", ["enforcementMode": "ENFORCED"], ["enforcementMode=ENFORCED"]),
            ("enforcement_mode", ["enforcement_mode": "ENFORCED"], ["enforcementMode=ENFORCED"]),
            ("enforcementMode", [:], []), ("enforcementMode", ["enforcementMode": "OFF"], []),
            (
                "enforcementMode,replayProtection", ["enforcementMode": "ENFORCED", "replayProtection": "UNENFORCED"],
                ["enforcementMode=ENFORCED", "replayProtection=UNENFORCED"]
            ),
            (
                "replayProtection", ["enforcementMode": "OFF", "replayProtection": "UNENFORCED"],
                ["enforcementMode=UNENFORCED", "replayProtection=UNENFORCED"]
            ),
            ("*", ["enforcementMode": "ENFORCED"], ["enforcementMode=ENFORCED"]),
            ("name,etag", ["name": "x"], ["enforcementMode=UNENFORCED"]),
        ] as [(String, JSON, [String])])
    func update(_ mask: String, _ message: JSON, _ expected: [String]) async throws {
        service.clock.advance(by: .seconds(60))
        let before = try await get("firestore.googleapis.com")
        let reply = try await patch("firestore.googleapis.com", mask, message).result.get()
        #expect(fields(reply) == expected)
        #expect(try await get("firestore.googleapis.com") == reply)
        if expected != ["enforcementMode=UNENFORCED"] {
            #expect(reply["updateTime"]?.string == "2026-11-21T12:01:00Z")
            #expect(reply["etag"] != before["etag"])
        }
    }

    @Test(
        "An update that cannot be is refused, and changes nothing",
        arguments: [
            (nil, [:], .invalidArgument), ("", ["enforcementMode": "OFF"], .invalidArgument),
            ("displayName", [:], .invalidArgument), ("enforcementMode", ["enforcementMode": "ON"], .invalidArgument),
            ("enforcementMode", ["enforcementMode": 2], .invalidArgument),
            ("replayProtection", ["replayProtection": "ENFORCED"], .invalidArgument),
            (
                "enforcementMode,replayProtection", ["replayProtection": "UNENFORCED"],
                .invalidArgument
            ),
            ("enforcementMode", ["enforcementMode": "ENFORCED", "etag": "\"old\""], .aborted),
            ("enforcementMode", "ENFORCED", .invalidArgument),
        ] as [(String?, JSON, StatusCode)])
    func refused(_ mask: String?, _ message: JSON, _ status: StatusCode) async throws {
        let before = try await get("firestore.googleapis.com")
        #expect(await patch("firestore.googleapis.com", mask, message).status == status)
        #expect(try await get("firestore.googleapis.com") == before)
    }

    @Test("An etag lets one change through, and not a second one by the same")
    func etags() async throws {
        let etag = try #require(try await get("firestore.googleapis.com")["etag"])
        let change: JSON = ["enforcementMode": "ENFORCED", "etag": etag]
        #expect(await patch("firestore.googleapis.com", "enforcementMode", change).status == nil)
        #expect(await patch("firestore.googleapis.com", "enforcementMode", change).status == .aborted)
        // Back to what it was is another version anyway.
        service.clock.advance(by: .seconds(1))
        #expect(
            await patch("firestore.googleapis.com", "enforcementMode", ["enforcementMode": "UNENFORCED"]).status == nil)
        #expect(await patch("firestore.googleapis.com", "enforcementMode", change).status == .aborted)
    }

    @Test("Levels that come from a file alone are changed there: the answer says where; no change is no mistake")
    func fileOnly() async throws {
        for (id, place) in [("orders.example.com", "test.yaml:9:"), ("firebaseml.googleapis.com", "test.yaml:7:")] {
            guard
                case .failure(let failure) = await patch(
                    id, "enforcementMode,replayProtection", ["enforcementMode": "UNENFORCED"]
                ).result
            else {
                Issue.record("it succeeded")
                continue
            }
            #expect(failure.status == .failedPrecondition)
            #expect(failure.message.contains(place), "\(failure.message)")
            #expect(failure.message.contains("editable: true"))
        }
        let same: JSON = ["enforcementMode": "ENFORCED", "replayProtection": "ENFORCED"]
        #expect(await patch("orders.example.com", "*", same).status == nil)
        #expect(await patch("firebaseml.googleapis.com", "enforcementMode", [:]).status == nil)
    }

    @Test("An update that changes nothing writes nothing")
    func unchanged() async throws {
        func set() async throws -> (reply: JSON, versions: Int) {
            let reply = try await patch(
                "firestore.googleapis.com", "enforcementMode", ["enforcementMode": "ENFORCED"]
            ).result.get()
            return (reply, try await service.store.list("protection/1234567890", after: nil, limit: 100).count)
        }
        let first = try await set()
        service.clock.advance(by: .seconds(1))
        let second = try await set()
        #expect(first.versions == 1)
        #expect(second.versions == 1)
        #expect(second.reply == first.reply)
    }

    @Test("What was set lives in the state store, as long as the policy lets it")
    func lifetime() async throws {
        _ = try await patch("firestore.googleapis.com", "enforcementMode", ["enforcementMode": "ENFORCED"]).result.get()
        try service.engine.replacePolicies(AdminService.policies(project: Self.project))
        #expect(fields(try await get("firestore.googleapis.com")) == ["enforcementMode=ENFORCED"])
        let fixed = Self.project.replacing("UNENFORCED, editable: true", with: "UNENFORCED")
        try service.engine.replacePolicies(AdminService.policies(project: fixed))
        #expect(fields(try await get("firestore.googleapis.com")) == ["enforcementMode=UNENFORCED"])
    }

    private func request(_ id: String, _ mode: String, _ more: JSONMember...) -> JSON {
        .object(
            [
                JSONMember(
                    "service",
                    ["name": .string("projects/example-project/services/\(id)"), "enforcementMode": .string(mode)])
            ] + more)
    }

    @Test("A batch sets all of its services or none")
    func batch() async throws {
        let good = [request("firestore.googleapis.com", "ENFORCED"), request("places.googleapis.com", "UNENFORCED")]
        let reply = try await service.call(
            "batchUpdateServices", AdminService.project,
            ["updateMask": "enforcementMode", "requests": .array(good)]
        ).result.get()
        #expect(
            reply["services"]?.array?.map(fields) == [["enforcementMode=ENFORCED"], ["enforcementMode=UNENFORCED"]])
        let before = try await service.call("listServices").result.get()
        let wrong: [(JSON, StatusCode)] = [
            (["requests": .array(good)], .invalidArgument),
            (["updateMask": "enforcementMode", "requests": []], .invalidArgument),
            (["updateMask": "enforcementMode"], .invalidArgument),
            (
                [
                    "updateMask": "enforcementMode",
                    "requests": .array(Array(repeating: good[0], count: 101)),
                ], .invalidArgument
            ),
            (
                [
                    "updateMask": "enforcementMode",
                    "requests": [request("places.googleapis.com", "OFF", JSONMember("updateMask", "replayProtection"))],
                ], .invalidArgument
            ),
        ]
        for (body, status) in wrong {
            #expect(await service.call("batchUpdateServices", AdminService.project, body).status == status)
        }
        let lower = request("firestore.googleapis.com", "OFF")
        let bad: [(JSON, StatusCode)] = [
            (request("orders.example.com", "UNENFORCED"), .invalidArgument),
            (request("firebaseml.googleapis.com", "ENFORCED"), .failedPrecondition),
            (request("nobody.example.com", "OFF"), .invalidArgument), (lower, .invalidArgument),
            (["service": ["name": "projects/2/services/places.googleapis.com"]], .invalidArgument),
            (["service": ["name": "places.googleapis.com"]], .invalidArgument), ([:], .invalidArgument),
            (["service": ["name": .string(Self.name), "enforcementMode": "MAYBE"]], .invalidArgument),
        ]
        for (element, status) in bad {
            let reply = await service.call(
                "batchUpdateServices", AdminService.project,
                ["updateMask": "enforcementMode", "requests": [lower, element]])
            #expect(reply.status == status, "\(element)")
            #expect(try await service.call("listServices").result.get() == before)
        }
    }

    @Test("Changes of several services at the same time do not undo each other")
    func concurrency() async throws {
        let ids = ServicePolicy.googleServices
        let project = "services: {\(ids.map { "\($0): {editable: true}" }.joined(separator: ", "))}"
        try service.engine.replacePolicies(AdminService.policies(project: project))
        let done = await withTaskGroup(of: String?.self) { group in
            for id in ids {
                group.addTask {
                    let reply = await patch(id, "enforcementMode", ["enforcementMode": "ENFORCED"])
                    #expect(reply.status == nil || reply.status == .aborted)
                    return reply.status == nil ? id : nil
                }
            }
            return await group.reduce(into: Set<String>()) { if let id = $1 { $0.insert(id) } }
        }
        #expect(!done.isEmpty)
        for id in ids {
            #expect(fields(try await get(id)) == (done.contains(id) ? ["enforcementMode=ENFORCED"] : []))
        }
    }

    @Test("A state that cannot be read or written is no answer, and a damaged one is not OFF")
    func damage() async throws {
        let change: JSON = ["enforcementMode": "ENFORCED"]
        service.store.isFailing = true
        #expect(await patch("firestore.googleapis.com", "enforcementMode", change).status == .unavailable)
        service.store.isFailing = false
        #expect(fields(try await get("firestore.googleapis.com")) == ["enforcementMode=UNENFORCED"])
        let levels = "{\"version\":1,\"services\":[{\"id\":\"a\",\"enforcement\":\"?\"}],\"policies\":[]}"
        for (name, value) in [("fffffffffffffff0", levels), ("fffffffffffffff0", "rubbish"), ("x", "{}")] {
            try await service.store.put(
                StateKey("protection/1234567890", name), value: Array(value.utf8), expires: nil)
            let reply = await service.call("getService", AdminService.project, ["serviceId": "places.googleapis.com"])
            #expect(reply.status == .unavailable)
            try await service.store.put(StateKey("protection/1234567890", name), value: nil, expires: nil)
        }
    }

    @Test("A change is on record with what it sets; without the permission there is none")
    func records() async throws {
        let reply = await patch("firestore.googleapis.com", "enforcementMode", ["enforcementMode": "ENFORCED"])
        let record = try #require(service.sink.record(of: reply.decision))
        #expect(
            record.facts == [
                Fact(
                    "service_level",
                    .text(
                        "firestore.googleapis.com ENFORCED, replay protection OFF; no backend has this name: nothing here enforces it, unless the program calls Engine.protect"
                    ))
            ])
        #expect(record.caller == "root")
        for method in ["listServices", "getService", "updateService", "batchUpdateServices"] {
            #expect(await service.call(method, as: nil).status == .unauthenticated)
            #expect(await service.call(method, as: AdminService.verifier).status == .permissionDenied)
        }
    }
}
