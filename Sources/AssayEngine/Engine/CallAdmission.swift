package import AssayCore
package import AssayKit
internal import AssayPolicy

/// What a call of a method of the kernel or of a provider comes to.
package enum CallAdmission: Sendable {
    /// A method of an app's provider.
    case provider(AppBinding, MethodBinding)
    /// A method of the kernel, on a resource of a kind that it is for.
    case kernel(KernelMethod, FoundResource)
    /// It ends here; with the resource, if there is one.
    case ended(CallOutcome, at: FoundResource?)
}

extension BoundPolicies {
    /// Finds the resource of a call, and whether the method is for it: the only place where that is decided.
    ///
    /// - Parameter caller: the caller whose permission was checked; nil where none is needed.
    package func admit(
        _ method: String, _ route: MethodRoute, to resource: String, by caller: Caller?
    ) -> CallAdmission {
        let found = find(resource)
        if let refusal = caller?.refusal(in: found?.project) { return .ended(refusal, at: found) }
        var kernelMethod: KernelMethod?
        if case .kernel(let method) = route.target { kernelMethod = method }
        guard let found else {
            let isExplained = kernelMethod?.descriptor.refusesUnknownFields ?? false
            return .ended(ResourceName.refusal(of: resource, isExplained: isExplained), at: nil)
        }
        if let kernelMethod {
            guard kernelMethod.descriptor.resources.contains(found.kind) else {
                return .ended(CallAdmission.wrongKind, at: found)
            }
            return .kernel(kernelMethod, found)
        }
        guard case .app(let app) = found else { return .ended(CallAdmission.wrongKind, at: found) }
        guard let binding = app.methods[method], binding.descriptor.resources.contains(app.identity.kind) else {
            return .ended(
                .rejected(
                    .failedPrecondition, "App not registered: \(app.identity.subject).",
                    detail: "the app has no provider with the method \(SafeText.of(method)) in the policies"),
                at: found)
        }
        return .provider(app, binding)
    }
}

extension CallAdmission {
    fileprivate static var wrongKind: CallOutcome {
        .rejected(.invalidArgument, "The method does not exist for resources of this kind.")
    }
}

extension Caller {
    /// The outcome of a call that needs a permission which the caller lacks; nil when it has it.
    package func refusal(needing permission: Permission) -> CallOutcome? {
        has(permission) ? nil : .forbidden(self, lacks: permission)
    }

    /// The outcome of a call in a project in which the caller may not act; nil when it may.
    ///
    /// - Parameter project: nil for an unknown one.
    package func refusal(in project: ProjectIdentity?) -> CallOutcome? {
        mayAct(in: project) ? nil : .forbidden(self, in: project)
    }
}
