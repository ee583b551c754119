internal import AssayCore
internal import AssayEngine
internal import AssayKit

/// The methods of `projects/*/services/*`.
extension Administration {
    /// How many elements a batch may have, as with Google's service.
    static let batchLimit = 100

    static let services: [KernelMethod] = [
        adminMethod(
            "listServices", MethodPath(.get, "/services", query: ["pageSize", "pageToken"]),
            MessageShape(AdministrationShapes.page),
            reply: AdministrationShapes.list("services", of: AdministrationShapes.serviceReply)
        ) { call in
            let project = try call.project()
            let page = try ListPage(call.fields)
            let state = try await ProtectionState.read(of: project.identity, in: call.host.store)
            let services = call.services(of: project)
            let views = try services.names.map { try services.view(of: $0.string, state) }
            return .answered(page.reply("services", views.map { ($0.id, $0.message(of: project.identity)) }))
        },
        adminMethod(
            "getService", MethodPath(.get, "/services/{serviceId}"), reply: AdministrationShapes.serviceReply
        ) { call in
            let project = try call.project()
            let id = try call.serviceID()
            let state = try await ProtectionState.read(of: project.identity, in: call.host.store)
            return .answered(try call.services(of: project).view(of: id, state).message(of: project.identity))
        },
        adminMethod(
            "updateService",
            MethodPath(.patch, "/services/{serviceId}", body: .field("service"), query: ["updateMask"]),
            AdministrationShapes.update("service", AdministrationShapes.service),
            reply: AdministrationShapes.serviceReply
        ) { call in
            let service = try call.fields.message("service") ?? RequestFields([:])
            let update = try ServiceUpdate(
                try call.serviceID(), service, mask: try call.fields.requiredFieldMask())
            // In bounds: one view for each update.
            let views = try await apply([update], call)
            return .answered(views[0].message(of: try call.project().identity), facts: try call.facts(about: views))
        },
        adminMethod(
            "resetService", MethodPath(.post, "/services/{serviceId}:reset"), reply: AdministrationShapes.serviceReply
        ) { call in
            let project = try call.project()
            let id = try call.serviceID()
            let services = call.services(of: project)
            let view = try await ProtectionState.update(of: project.identity, in: call.host.store, now: call.now) {
                state in
                try services.checkEditable(id)
                state.services[id] = nil
                return try services.view(of: id, state)
            }
            await call.refreshProtection(of: project.identity)
            return .answered(view.message(of: project.identity), facts: try call.facts(about: [view]))
        },
        adminMethod(
            "batchUpdateServices", MethodPath(.post, "/services:batchUpdate"),
            AdministrationShapes.batch("service", AdministrationShapes.service),
            reply: [.optional("services", .list(.message(AdministrationShapes.serviceReply), atMost: batchLimit))]
        ) { call in
            let project = try call.project()
            var updates: [ServiceUpdate] = []
            for (request, mask) in try call.fields.batch(batchLimit) {
                guard let service = try request.message("service") else {
                    throw InvalidRequest("the field 'service' is missing")
                }
                let id = try call.child(of: "services", named: try service.string("name"))
                guard !updates.contains(where: { $0.id.isExactly(id) }) else {
                    throw InvalidRequest("a batch may have each service only once")
                }
                updates.append(try ServiceUpdate(id, service, mask: mask))
            }
            let views = try await apply(updates, call)
            return .answered(
                ["services": .array(views.map { $0.message(of: project.identity) })],
                facts: try call.facts(about: views))
        },
    ]

    private static func apply(_ updates: [ServiceUpdate], _ call: KernelCall) async throws -> [ServiceView] {
        let project = try call.project()
        let services = call.services(of: project)
        let views = try await ProtectionState.update(
            of: project.identity, in: call.host.store, now: call.now
        ) { state in
            // A batch may raise one level and lower another; each update sees the results of those before it.
            try updates.map { try $0.apply(to: &state, of: services, now: call.now) }
        }
        await call.refreshProtection(of: project.identity)
        return views
    }

    static func adminMethod(
        _ name: String, _ path: MethodPath, _ request: MessageShape = [], reply: MessageShape,
        _ answer: @escaping @Sendable (KernelCall) async throws -> CallOutcome
    ) -> KernelMethod {
        // A misspelled level would otherwise be none, which is OFF. What only reads is asked by Google's tools, which may know more.
        let request = MessageShape(request.fields, refusesUnknownFields: path.verb != .get)
        return KernelMethod(
            MethodDescriptor(name: name, kind: .call(.admin), resources: [.project], path: path)
                .with(request: request, reply: reply),
            answer: answer)
    }
}

extension KernelCall {
    /// The facts about changes of services for the record.
    fileprivate func facts(about views: [ServiceView]) throws -> [Fact] {
        let services = services(of: try project())
        return views.map { view in
            let levels = view.levels
            let words =
                "\(view.id) \(levels.enforcement.rawValue), replay protection \(levels.replayProtection.rawValue)"
            let isEnforced = services[view.id]?.isBackend ?? false
            return Fact(
                .serviceLevel,
                .text(
                    isEnforced
                        ? words
                        : "\(words); no backend has this name: nothing here enforces it, unless the program calls Engine.protect"
                ))
        }
    }

    func services(of project: ProjectBinding) -> ProjectServices { policies.services(of: project) }

    /// The service in the path, which the project must have.
    func serviceID() throws -> String {
        let id = try fields.string("serviceId")
        _ = try services(of: try project()).find(id)
        return id
    }

    /// The last part of a resource's full name, which must be in a collection of this project.
    func child(of collection: String, named name: String) throws -> String {
        let project = try project().identity
        for parent in [project.number, project.id] {
            let prefix = "projects/\(parent)/\(collection)/"
            if name.starts(withExactly: prefix), name.utf8.count > prefix.utf8.count, name.utf8.count <= 512 {
                return String(decoding: name.utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
            }
        }
        throw InvalidRequest("all names must be projects/\(project.number)/\(collection)/*")
    }
}
