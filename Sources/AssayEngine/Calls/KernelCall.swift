package import AssayCore
package import AssayKit
internal import AssayPolicy

/// A method that the kernel itself answers.
package struct KernelMethod: Sendable {
    package let descriptor: MethodDescriptor
    let answer: @Sendable (KernelCall) async throws -> CallOutcome

    /// - Parameter answer: a thrown `CallFailure` or `InvalidRequest` is the answer; any other error means that no decision was possible.
    package init(
        _ descriptor: MethodDescriptor, answer: @escaping @Sendable (KernelCall) async throws -> CallOutcome
    ) {
        self.descriptor = descriptor
        self.answer = answer
    }

    /// The same with some of its rules only.
    func with(_ rules: [HTTPRule]) -> KernelMethod {
        let descriptor = MethodDescriptor(
            name: descriptor.name, kind: descriptor.kind, resources: descriptor.resources, rules: rules)
        return KernelMethod(
            descriptor.with(request: self.descriptor.request, reply: self.descriptor.reply), answer: answer)
    }
}

/// The methods that the kernel itself answers.
package enum KernelMethods {
    /// `GET jwks`: the keys that verify tokens.
    ///
    /// It has no resource and leaves no record, because it decides nothing.
    static let keySet = MethodDescriptor(name: "jwks", kind: .keySet, resources: [])

    /// The description of a project's issuer, by the path of the issuer's URL; it leaves no record either.
    static let issuerMetadata = MethodDescriptor(
        name: "issuerMetadata", kind: .keySet, resources: [], rules: IssuerMetadata.rules
    ).with(request: IssuerMetadata.request, reply: IssuerMetadata.reply)

    /// All other methods.
    static let all: [KernelMethod] = [verifyAppCheckToken, mintAppCheckToken]
}

extension Snapshot {
    /// What verifiers of tokens read: the key set, or the description of an issuer.
    func published(_ call: Call, at now: Instant) -> Result<JSON, CallFailure> {
        let keySet = keys.keySet(at: now)
        guard call.method.isExactly(KernelMethods.issuerMetadata.name) else { return .success(keySet) }
        guard let path = IssuerMetadata.path(call.body), let number = path.split(onASCII: "/").last,
            let project = policies.projects["projects/\(number)"],
            let metadata = IssuerMetadata(of: project.issuer, at: path, keySet: keySet)
        else { return .failure(.notFound) }
        return .success(metadata.json(grant: TokenExchange.grant))
    }
}

/// One call of a kernel method, after the gate and with its resource.
package struct KernelCall: Sendable {
    let scope: RequestScope
    package let fields: RequestFields
    let resource: FoundResource

    package var policies: BoundPolicies { scope.snapshot.policies }
    package var now: Instant { scope.now }
    package var host: PluginHost { scope.host }
    package var caller: Caller? { scope.caller }
    /// The records that callers may look up; nil when there are none.
    package var archive: (any DecisionArchive)? { scope.archive }
    /// The names in records that the program knows.
    package var recordNames: RecordNames { scope.recordNames }

    /// Calls a method on a resource.
    static func answer(
        _ method: KernelMethod, on resource: FoundResource, _ scope: RequestScope
    ) async -> CallOutcome {
        do {
            let call = KernelCall(scope: scope, fields: try RequestFields(scope.call.body), resource: resource)
            return try await scope.withinDeadline { try await method.answer(call) }
        } catch {
            return .ended(by: error)
        }
    }

    /// The project that the call is about.
    package func project() throws(CallFailure) -> ProjectBinding {
        guard case .project(let project) = resource else { throw CallFailure.notFound }
        return project
    }

    /// The app or OAuth client that the call is about.
    package func app() throws(CallFailure) -> AppBinding {
        guard case .app(let app) = resource else { throw CallFailure.notFound }
        return app
    }

    /// Puts a change of the service itself on record.
    package func record(_ event: AuditEvent) { scope.record(event) }

    /// Lets a change of the deny list take effect here at once.
    package func refreshDenials() async { await scope.refreshDenials() }

    /// Lets a change of the levels of a project's services take effect here at once.
    package func refreshProtection(of project: ProjectIdentity) async { await scope.refreshProtection(of: project) }
}
