internal import Foundation

/// The arguments of the tool: what a command plugin found out, then what the person wrote.
///
///     new-plugin KIND TEMPLATES PARENT (folder PATH | release URL VERSION | commit URL REVISION) -- NAME
struct Request {
    let kind: TemplateKind
    let templates: URL
    let parent: URL
    let assay: AssayDependency
    let name: PluginName

    /// - Throws: ``Refusal`` when the person wrote something else than one name.
    init(_ arguments: [String]) throws(Refusal) {
        let parts = arguments.split(maxSplits: 1, omittingEmptySubsequences: false) { $0.utf8.elementsEqual("--".utf8) }
        let found = Array(parts[0])
        guard parts.count == 2, found.count >= 5,
            let kind = TemplateKind.allCases.first(where: { $0.word.utf8.elementsEqual(found[0].utf8) }),
            let assay = Self.dependency(Array(found[3...]))
        else { throw Refusal("this tool is called by the commands new-provider, new-consumer and new-store") }
        let written = Array(parts[1])
        guard written.count == 1, !written[0].utf8.starts(with: "-".utf8) else {
            throw Refusal("usage: swift package --allow-writing-to-package-directory new-\(kind.word) NAME")
        }
        self.kind = kind
        templates = URL(fileURLWithPath: found[1])
        parent = URL(fileURLWithPath: found[2])
        self.assay = assay
        name = try PluginName(written[0])
    }

    private static func dependency(_ words: [String]) -> AssayDependency? {
        func isCalled(_ word: String) -> Bool { words[0].utf8.elementsEqual(word.utf8) }
        return switch words.count {
        case 2 where isCalled("folder"): .folder(words[1])
        case 3 where isCalled("release"): .release(url: words[1], version: words[2])
        case 3 where isCalled("commit"): .commit(url: words[1], revision: words[2])
        default: nil
        }
    }
}
