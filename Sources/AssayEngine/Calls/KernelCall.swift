package import AssayCore
internal import AssayKit
internal import AssayPolicy

/// A method that the kernel itself answers.
package struct KernelMethod: Sendable {
    package let descriptor: MethodDescriptor
    /// A thrown `CallFailure` or `InvalidRequest` is the answer; any other error means that no decision was
    /// possible.
    let answer: @Sendable (KernelCall) async throws -> CallOutcome

    /// The same with some of its rules only.
    func with(_ rules: [HTTPRule]) -> KernelMethod {
        let descriptor = MethodDescriptor(
            name: descriptor.name, kind: descriptor.kind, resources: descriptor.resources, rules: rules)
        return KernelMethod(
            descriptor: descriptor.with(request: self.descriptor.request, reply: self.descriptor.reply), answer: answer)
    }
}

/// The methods that the kernel itself answers.
enum KernelMethods {
    /// `GET jwks`: the keys that verify tokens.
    ///
    /// It has no resource and leaves no record, because it decides nothing.
    static let keySet = MethodDescriptor(name: "jwks", kind: .keySet, resources: [])

    /// The description of a project's issuer, by the path of the issuer's URL; it leaves no record either.
    static let issuerMetadata = MethodDescriptor(
        name: "issuerMetadata", kind: .keySet, resources: [], rules: IssuerMetadata.rules
    ).with(request: IssuerMetadata.request, reply: IssuerMetadata.reply)

    /// All other methods.
    static let all: [KernelMethod] =
        [verifyAppCheckToken, mintAppCheckToken] + services + resourcePolicies + denyEntries + decisions
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
struct KernelCall: Sendable {
    let scope: RequestScope
    let fields: RequestFields
    let resource: FoundResource

    var snapshot: Snapshot { scope.snapshot }
    var now: Instant { scope.now }
    var host: PluginHost { scope.host }
    var caller: Caller? { scope.caller }

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
    func project() throws(CallFailure) -> ProjectBinding {
        guard case .project(let project) = resource else { throw CallFailure.notFound }
        return project
    }

    /// The app or OAuth client that the call is about.
    func app() throws(CallFailure) -> AppBinding {
        guard case .app(let app) = resource else { throw CallFailure.notFound }
        return app
    }
}
