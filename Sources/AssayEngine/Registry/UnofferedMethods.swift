internal import AssayCore
internal import AssayKit

/// Methods that a program knows and does not offer.
///
/// A call gets 501 UNIMPLEMENTED.
enum UnofferedMethods {
    /// The kernel methods that answer so.
    ///
    /// - Parameters:
    ///   - listed: the methods that are known.
    ///   - offered: the methods that plugins and the kernel offer; what has one of their names or rules is left out.
    static func all(_ listed: [MethodDescriptor], beside offered: [MethodDescriptor]) -> [KernelMethod] {
        let names = Set(offered.map(\.name))
        let shapes = Set(offered.flatMap(\.rules).map(shape))
        return listed.filter { !names.contains($0.name) }.compactMap { method in
            let rules = method.rules.filter { !shapes.contains(shape($0)) }
            guard !rules.isEmpty else { return nil }
            let descriptor = MethodDescriptor(
                name: method.name, kind: method.kind, resources: method.resources, rules: rules)
            return KernelMethod(descriptor: descriptor) { _ in
                throw CallFailure(.unimplemented, "This server does not offer the method \(method.name).")
            }
        }
    }

    /// A rule without the names of its variables.
    private static func shape(_ rule: HTTPRule) -> String {
        var shape = rule.verb.rawValue + " "
        var rest = rule.template[...]
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            let pattern = rest[open..<close].split(separator: "=", maxSplits: 1).dropFirst().first
            shape += rest[..<open] + (pattern ?? "*")
            rest = rest[close...].dropFirst()
        }
        return shape + rest
    }
}
