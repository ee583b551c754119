internal import AssayCore
internal import AssayKit
internal import AssayYAML

/// What a plugin says of itself: checks that need no call.
enum ContractText {
    static func check(_ descriptor: PluginDescriptor, _ run: ConformanceRun) {
        run.expect(
            descriptor.contract == PluginDescriptor.currentContract,
            "made for contract \(descriptor.contract); the present one is \(PluginDescriptor.currentContract)")
        run.expect(!descriptor.version.isEmpty, "no version")
        run.expect(descriptor.summary.utf8.count >= 10, "no summary")
        if let posture = descriptor.posture {
            run.expect(!posture.proves.isEmpty && !posture.trusts.isEmpty, "the posture proves or trusts nothing")
        } else {
            run.expect(false, "no posture: what it proves and whom it trusts")
        }
    }

    static func checkReasons(_ descriptor: PluginDescriptor, _ run: ConformanceRun) {
        for reason in descriptor.reasons {
            run.expect(reason.summary.utf8.count >= 8, "the reason \(reason.code) has no explanation")
        }
    }

    /// Expects a description for every key of a section.
    static func checkKeys(of type: any Decodable.Type, _ run: ConformanceRun) {
        var seen = 0
        var rest: [(path: String, type: any Decodable.Type)] = [("", type)]
        while let next = rest.popLast(), seen < 500 {
            seen += 1
            switch ValueShape(of: next.type) {
            case .list(let element, _): rest.append(("\(next.path)[]", element))
            case .dictionary(let element): rest.append(("\(next.path).*", element))
            case .mapping(let mapping):
                for field in mapping.fields {
                    let path = next.path.isEmpty ? field.key : "\(next.path).\(field.key)"
                    let described = mapping.descriptions[ExactText(field.key)]
                    run.expect(described.map { !$0.text.isEmpty } ?? false, "the key `\(path)` has no description")
                    if path.utf8.count < 200 { rest.append((path, field.type)) }
                }
            default: break
            }
        }
    }
}

extension MethodDescriptor {
    /// Whether the method exchanges evidence for a token.
    var isExchange: Bool { if case .exchange = kind { true } else { false } }
}
