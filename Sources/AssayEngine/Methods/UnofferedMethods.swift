internal import AssayCore
internal import AssayKit

/// Methods that a program knows and does not offer.
///
/// A call gets 501 UNIMPLEMENTED, except for the settings of a provider, which are shown unset.
enum UnofferedMethods {
    /// The kernel methods that answer so.
    ///
    /// - Parameters:
    ///   - listed: the methods that are known.
    ///   - offered: the methods that plugins and the kernel offer; what has one of their names is left out.
    ///   - rules: the rules that are taken; they are left out, too.
    ///   - administration: shows settings that are unset.
    static func all(
        _ listed: [MethodDescriptor], beside offered: [MethodDescriptor], _ taken: RouteClaims,
        _ administration: Administration?
    ) -> [KernelMethod] {
        var taken = taken
        var names = Set(offered.map { ExactText($0.name) })
        return listed.compactMap { method in
            guard names.insert(ExactText(method.name)).inserted else { return nil }
            let rules = method.rules.filter { taken.isFree($0) }
            guard !rules.isEmpty else { return nil }
            for rule in rules { try? taken.claim(rule, by: "the methods that are not offered") }
            if case .unset(let resource, let standard) = method.kind, let administration {
                return administration.settings("", resource.string, standard)
                    .first { $0.descriptor.name.isExactly(method.name) }?.with(rules)
            }
            let descriptor = MethodDescriptor(
                name: method.name, kind: method.kind, resources: method.resources, rules: rules)
            return KernelMethod(descriptor) { _ in
                throw CallFailure(.unimplemented, "This server does not offer the method \(method.name).")
            }
        }
    }
}
