import AssayCore
import AssayEngine
import AssayKit
import AssayPolicy
import AssayTesting
import Testing

@Suite("The methods of resource policies")
struct ResourcePolicyMethodTests {
    private static let editable = "services: {oauth2.googleapis.com: {editable: true}}"
    private static let parent = "projects/1234567890/services/oauth2.googleapis.com/resourcePolicies"

    private let service: AdminService

    init() throws {
        service = try AdminService(project: Self.editable)
    }

    private func call(_ method: String, _ fields: KeyValuePairs<String, JSON> = [:]) async -> Reply {
        let members = [JSONMember("serviceId", "oauth2.googleapis.com")] + fields.map { JSONMember($0.key, $0.value) }
        return await service.call(method, AdminService.project, .object(members))
    }

    private func target(_ client: String) -> JSON {
        .string("//oauth2.googleapis.com/projects/1234567890/oauthClients/\(client)")
    }

    private func create(_ client: String, _ mode: String = "ENFORCED") async throws -> (id: JSON, policy: JSON) {
        let policy = try await call(
            "createResourcePolicy",
            ["resourcePolicy": ["targetResource": target(client), "enforcementMode": .string(mode)]]
        ).result.get()
        let name = try #require(policy["name"]?.string)
        #expect(name.hasPrefix("\(Self.parent)/"))
        return (.string(String(name.dropFirst(Self.parent.count + 1))), policy)
    }

    private func clients(_ filter: String) async throws -> [String] {
        let reply = try await call("listResourcePolicies", ["filter": .string(filter)]).result.get()
        return (reply["resourcePolicies"]?.array ?? []).compactMap {
            $0["targetResource"]?.string?.last.map(String.init)
        }
        .sorted()
    }

    @Test("A policy is created, read, changed, listed and deleted")
    func lifetime() async throws {
        let (id, created) = try await create("a")
        #expect(created["enforcementMode"] == "ENFORCED")
        #expect(created["updateTime"] == "2026-11-21T12:00:00Z")
        #expect(try await call("getResourcePolicy", ["resourcePolicyId": id]).result.get() == created)
        service.clock.advance(by: .seconds(1))
        let changed = try await call(
            "updateResourcePolicy", ["resourcePolicyId": id, "resourcePolicy": [:], "updateMask": "enforcement_mode"]
        ).result.get()
        #expect(changed["enforcementMode"] == nil)
        #expect(changed["updateTime"] == "2026-11-21T12:00:01Z")
        #expect(changed["etag"] != created["etag"])
        #expect(try await call("listResourcePolicies").result.get() == ["resourcePolicies": [changed]])
        let etag = try #require(created["etag"])
        #expect(await call("deleteResourcePolicy", ["resourcePolicyId": id, "etag": etag]).status == .aborted)
        let now = try #require(changed["etag"])
        #expect(
            try await call("deleteResourcePolicy", ["resourcePolicyId": id, "etag": now]).result.get() == [:])
        for method in ["getResourcePolicy", "deleteResourcePolicy"] {
            #expect(await call(method, ["resourcePolicyId": id]).status == .notFound)
        }
        #expect(try await call("listResourcePolicies").result.get() == [:])
    }

    @Test(
        "A target is an OAuth client of the project, by its number or its ID",
        arguments: [
            ("//oauth2.googleapis.com/projects/example-project/oauthClients/a.b-c", nil), ("", .invalidArgument),
            ("//oauth2.googleapis.com/projects/2/oauthClients/a", .invalidArgument),
            ("//oauth2.googleapis.com/projects/1234567890/oauthClients/", .invalidArgument),
            ("//oauth2.googleapis.com/projects/1234567890/oauthClients/a/b", .invalidArgument),
            ("/oauth2.googleapis.com/projects/1234567890/oauthClients/a", .invalidArgument),
            ("//firestore.googleapis.com/projects/1234567890/oauthClients/a", .invalidArgument),
        ] as [(String, StatusCode?)])
    func targets(_ target: String, _ status: StatusCode?) async throws {
        let reply = await call("createResourcePolicy", ["resourcePolicy": ["targetResource": .string(target)]])
        #expect(reply.status == status)
        if case .success(let policy) = reply.result {
            #expect(policy["targetResource"] == self.target("a.b-c"))
            #expect(policy["enforcementMode"] == nil)
        }
    }

    @Test("A resource has one policy")
    func twice() async throws {
        _ = try await create("a")
        let again = await call("createResourcePolicy", ["resourcePolicy": ["targetResource": target("a")]])
        #expect(again.status == .alreadyExists)
    }

    @Test(
        "A list can be filtered by comparisons",
        arguments: [
            ("", ["a", "b", "c"]), ("enforcement_mode = ENFORCED", ["a"]), ("enforcementMode=OFF", ["c"]),
            ("enforcement_mode != ENFORCED", ["b", "c"]),
            ("target_resource = \"//oauth2.googleapis.com/projects/1234567890/oauthClients/b\"", ["b"]),
            (
                "enforcement_mode=ENFORCED AND target_resource='//oauth2.googleapis.com/projects/1234567890/oauthClients/b'",
                []
            ),
            ("enforcement_mode != OFF AND enforcement_mode != ENFORCED", ["b"]),
        ])
    func filter(_ filter: String, _ expected: [String]) async throws {
        for (client, mode) in [("a", "ENFORCED"), ("b", "UNENFORCED"), ("c", "OFF")] {
            _ = try await create(client, mode)
        }
        #expect(try await clients(filter) == expected)
    }

    @Test(
        "A filter of another form is refused",
        arguments: [
            "enforcement_mode", "enforcement_mode =", "= ENFORCED", "enforcement_mode = SOMETIMES", "name = a",
            "enforcement_mode : ENFORCED", "enforcement_mode = ENFORCED OR enforcement_mode = OFF",
            "enforcement_mode = ENFORCED AND", "enforcement_mode = \"ENFORCED", "enforcement_mode ! ENFORCED",
            "NOT enforcement_mode = ENFORCED", "enforcement_mode = ENFORCED enforcement_mode = OFF",
            "(enforcement_mode = OFF)", "enforcement_mode = = OFF", String(repeating: "a", count: 3000),
        ])
    func wrongFilter(_ filter: String) async {
        #expect(await call("listResourcePolicies", ["filter": .string(filter)]).status == .invalidArgument)
    }

    @Test("Lists come in pages")
    func pages() async throws {
        for client in ["a", "b", "c"] { _ = try await create(client) }
        let first = try await call("listResourcePolicies", ["pageSize": 2]).result.get()
        #expect(first["resourcePolicies"]?.array?.count == 2)
        let token = try #require(first["nextPageToken"])
        let second = try await call("listResourcePolicies", ["pageSize": 2, "pageToken": token]).result.get()
        #expect(second["resourcePolicies"]?.array?.count == 1)
        #expect(second["nextPageToken"] == nil)
    }

    @Test("A batch changes all of its policies or none")
    func batch() async throws {
        let (_, a) = try await create("a")
        let (_, b) = try await create("b")
        let name = { (policy: JSON) in policy["name"] ?? .null }
        let off = { (policy: JSON) -> JSON in ["resourcePolicy": ["name": name(policy)]] }
        let before = try await call("listResourcePolicies").result.get()
        let bad: [(JSON, StatusCode)] = [
            (["resourcePolicy": ["name": .string("\(Self.parent)/nobody")]], .notFound),
            (["resourcePolicy": ["name": name(b), "etag": "\"old\""]], .aborted), (off(a), .invalidArgument),
            (
                ["resourcePolicy": ["name": "projects/2/services/oauth2.googleapis.com/resourcePolicies/x"]],
                .invalidArgument
            ),
            ([:], .invalidArgument),
        ]
        for (element, status) in bad {
            let reply = await call(
                "batchUpdateResourcePolicies",
                ["updateMask": "enforcementMode", "requests": [off(a), element]])
            #expect(reply.status == status)
            #expect(try await call("listResourcePolicies").result.get() == before)
        }
        let reply = try await call(
            "batchUpdateResourcePolicies", ["updateMask": "enforcementMode", "requests": [off(a), off(b)]]
        ).result.get()
        #expect(reply["resourcePolicies"]?.array?.map { $0["enforcementMode"] } == [nil, nil])
    }

    @Test("What a policy is about cannot be changed; to say the same is no mistake")
    func retarget() async throws {
        let (id, _) = try await create("a")
        for (client, status) in [("a", nil), ("b", StatusCode.invalidArgument)] {
            let reply = await call(
                "updateResourcePolicy",
                [
                    "resourcePolicyId": id, "resourcePolicy": ["targetResource": target(client)],
                    "updateMask": "targetResource",
                ])
            #expect(reply.status == status)
        }
    }

    @Test("Only the service of OAuth clients has them, and only where the policy lets administrators change it")
    func notEditable() async throws {
        let other = await service.call(
            "listResourcePolicies", AdminService.project, ["serviceId": "firestore.googleapis.com"])
        #expect(other.status == .invalidArgument)
        _ = try await create("a")
        try service.engine.replacePolicies(AdminService.policies(project: "services: {}"))
        let reply = await call("createResourcePolicy", ["resourcePolicy": ["targetResource": target("b")]])
        guard case .failure(let failure) = reply.result else {
            Issue.record("it succeeded")
            return
        }
        #expect(failure.status == .failedPrecondition)
        #expect(failure.message.contains("test.yaml:"))
        #expect(try await call("listResourcePolicies").result.get() == [:])
    }

    @Test("Without the permission there is nothing", arguments: ["list", "get", "create", "update", "delete"])
    func permission(_ verb: String) async {
        let method = verb == "list" ? "listResourcePolicies" : "\(verb)ResourcePolicy"
        #expect(await service.call(method, as: nil).status == .unauthenticated)
        #expect(await service.call(method, as: AdminService.minter).status == .permissionDenied)
    }
}
