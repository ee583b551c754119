/// How a new package depends on Assay: as the package does that the command was run in.
enum AssayDependency {
    /// A checkout, by its absolute path.
    case folder(String)
    /// A repository and a release of it.
    case release(url: String, version: String)
    /// A repository and a commit of it, where the package that asks depends on no release.
    case commit(url: String, revision: String)

    /// What the manifests of templates have in its place, with their traits.
    private static var placeholder: Regex<(Substring, traits: Substring)> {
        #/\.package\(name: "assay", path: "[./]+", traits: (?<traits>\[[^\]]*\])\)/#
    }

    /// A manifest of a template, with this dependency in the place of the template's.
    func declared(in manifest: String) -> String {
        manifest.replacing(Self.placeholder) { declaration(traits: $0.traits) }
    }

    /// The element of `dependencies` in Package.swift.
    private func declaration(traits: Substring) -> String {
        switch self {
        case .folder(let path): ".package(name: \"assay\", path: \(path.debugDescription), traits: \(traits))"
        case .release(let url, let version):
            ".package(url: \(url.debugDescription), .upToNextMinor(from: \(version.debugDescription)), traits: \(traits))"
        case .commit(let url, let revision):
            ".package(url: \(url.debugDescription), revision: \(revision.debugDescription), traits: \(traits))"
        }
    }

    /// What products name the package by: the last part of its address, without `.git`.
    var identity: String {
        switch self {
        case .folder: return "assay"
        case .release(let url, _), .commit(let url, _):
            let last = url.split(separator: "/").last.map(String.init) ?? url
            return last.utf8.suffix(4).elementsEqual(".git".utf8) ? String(last.dropLast(4)) : last
        }
    }

    /// The address for readers; nil for a folder.
    var address: String? {
        switch self {
        case .folder: nil
        case .release(let url, _), .commit(let url, _): url
        }
    }
}
