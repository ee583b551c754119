internal import AssayCore
internal import AssayEngine
internal import AssayPolicy

/// A change of one service's levels that a caller asks for.
struct ServiceUpdate: Sendable {
    let id: String
    private let mask: FieldMask
    private let stated: ServiceLevels
    private let etag: String?

    private static let known = ["name", "enforcementMode", "replayProtection", "updateTime", "etag"]

    /// - Parameter service: the message `Service`.
    init(_ id: String, _ service: RequestFields, mask: FieldMask) throws(InvalidRequest) {
        if let unknown = mask.unknown(among: ServiceUpdate.known).first {
            throw InvalidRequest("the field mask names '\(unknown)', which a service does not have")
        }
        self.id = id
        self.mask = mask
        // Both are read whether or not the mask names them: an unknown level is an error in any case.
        stated = ServiceLevels(
            enforcement: try service.enforcementMode("enforcementMode"),
            replayProtection: try service.enforcementMode("replayProtection"))
        etag = try service.optionalString("etag")
    }

    /// Applies the change to the state of a project, and returns the resulting service.
    ///
    /// A field that the mask names and the message lacks becomes OFF. An update that changes nothing succeeds even
    /// where changes are forbidden, for tools that write every setting each time they run.
    func apply(to state: inout ProtectionState, of services: ProjectServices, now: Instant) throws -> ServiceView {
        let present = try services.view(of: id, state)
        try ETag.check(etag, is: present.etag)
        var levels = present.levels
        if mask.contains("enforcementMode") { levels.enforcement = stated.enforcement }
        if mask.contains("replayProtection") { levels.replayProtection = stated.replayProtection }
        guard levels.replayProtection <= levels.enforcement else {
            throw InvalidRequest("the field 'replayProtection' cannot be a higher level than 'enforcementMode'")
        }
        if levels == present.levels, services[id]?.isEditable != true || present.edited != nil {
            return present
        }
        try services.checkEditable(id)
        state.services[id] = ProtectionState.Edit(levels: levels, time: now)
        return try services.view(of: id, state)
    }
}

extension RequestFields {
    /// A level by its name; OFF when the name is absent.
    func enforcementMode(_ name: String) throws(InvalidRequest) -> EnforcementMode {
        guard let text = try optionalString(name) else { return .off }
        guard let mode = EnforcementMode(exactly: text) else {
            throw InvalidRequest("the field '\(name)' must be OFF, UNENFORCED or ENFORCED")
        }
        return mode
    }

    /// The updates of a batch, each with its mask.
    ///
    /// - Parameter limit: the most updates of a batch.
    func batch(_ limit: Int) throws(InvalidRequest) -> [(request: RequestFields, mask: FieldMask)] {
        let common = try fieldMask()
        let requests = try messages("requests")
        guard (1...limit).contains(requests.count) else {
            throw InvalidRequest("the field 'requests' must have 1 to \(limit) elements")
        }
        return try requests.map { (request) throws(InvalidRequest) in
            let own = try request.fieldMask()
            if let own, let common, Set(exactly: own.paths) != Set(exactly: common.paths) {
                throw InvalidRequest("the field masks of the batch and of its elements differ")
            }
            guard let mask = own ?? common else { throw InvalidRequest("the field 'updateMask' is missing") }
            return (request, mask)
        }
    }
}
