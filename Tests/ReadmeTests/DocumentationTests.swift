import AssayAppAttest
import AssayCore
import AssayCustomBackend
import AssayEngine
import AssayKit
import AssayPolicy
import AssayServices
import Foundation
import Logging
import Testing

@Suite("The documentation keeps its word")
struct DocumentationTests {
    private static let folder = "Tests/ReadmeTests"

    /// The main file of the package that makes a program with a provider of its own.
    private static let customServer = "Tests/Examples/CustomServer/Sources/till-server/main.swift"

    /// The package that a stranger begins with, and what new packages are copies of: `Tests/NewPackages/run` builds them.
    private static let firstPackage = "Tests/NewPackages/Package.swift"
    private static let templates = Document.root.appendingPathComponent("Sources/NewPlugin/Templates")

    /// The text of each file in a folder, by its path.
    private static func files(in folder: URL) throws -> [String: String] {
        var found: [String: String] = [:]
        for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
            let file = folder.appendingPathComponent(path)
            guard !path.contains(".build/"), !path.contains("Package.resolved"),
                try file.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true
            else { continue }
            found[path] = try String(contentsOf: file, encoding: .utf8)
        }
        return found
    }

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: Document.root.appendingPathComponent(path), encoding: .utf8)
    }

    @Test("The README has at most 9 KiB")
    func size() throws {
        let readme = try Data(contentsOf: Document.root.appendingPathComponent("README.md"))
        #expect(readme.count <= 9216)
    }

    @Test("Every relative link leads to a file of the repository, and every anchor to a heading")
    func links() throws {
        var count = 0
        for document in try Document.all() {
            for link in document.links {
                guard let (path, anchor) = document.destination(of: link) else { continue }
                count += 1
                guard
                    FileManager.default.fileExists(atPath: Document.root.appendingPathComponent(path).path),
                    !path.hasPrefix("/")
                else {
                    Issue.record("\(document.path): there is no \(link)")
                    continue
                }
                guard let anchor else { continue }
                let anchors = try path.hasSuffix(".md") ? Document(path).anchors : []
                #expect(anchors.contains(anchor), "\(document.path): \(link)")
            }
            for topic in document.topics {
                let page = Document.root.appendingPathComponent(document.path).deletingLastPathComponent()
                    .appendingPathComponent("\(topic).md")
                #expect(FileManager.default.fileExists(atPath: page.path), "\(document.path): <doc:\(topic)>")
            }
        }
        #expect(count > 100)
    }

    @Test("Every page can be reached from the README")
    func reachable() throws {
        let pages = Dictionary(uniqueKeysWithValues: try Document.all().map { ($0.path, $0) })
        var reached: Set<String> = ["README.md"]
        var waiting = ["README.md"]
        while let next = waiting.popLast() {
            guard let page = pages[next] else { continue }
            for link in page.links {
                guard let path = page.destination(of: link)?.path else { continue }
                if reached.insert(path).inserted { waiting.append(path) }
            }
        }
        #expect(pages.keys.filter { !reached.contains($0) }.sorted() == [])
    }

    @Test("Every article of a catalog is among its topics")
    func topics() throws {
        let documents = try Document.all().filter { $0.path.contains(".docc/") }
        let catalogs = Dictionary(grouping: documents) {
            String($0.path[..<($0.path.lastIndex(of: "/") ?? $0.path.endIndex)])
        }
        for (catalog, pages) in catalogs where pages.count > 1 {
            let names = pages.map { ($0.path as NSString).lastPathComponent.replacing(".md", with: "") }
            let listed = Set(pages.flatMap(\.topics))
            #expect(names.filter { !listed.contains($0) && !catalog.hasSuffix("\($0).docc") } == [], "\(catalog)")
        }
    }

    @Test(
        "An article shows the very code that is compiled here",
        arguments: [
            ("README.md", "SmallestEngine"), ("\(Document.articles)/EmbedTheEngine.md", "EmbeddedEngine"),
            ("\(Document.articles)/EmbedTheEngine.md", "DenyAtOnce"),
            ("\(Document.articles)/EmbedTheEngine.md", "ServedEngine"),
            ("\(Document.articles)/EmbedTheEngine.md", "WholeServer"),
            ("\(Document.articles)/EmbedTheEngine.md", "OwnServer"),
            ("\(Document.articles)/ProviderDetails.md", "PasswordProvider"),
            ("\(Document.articles)/ProviderDetails.md", "VoucherProvider"),
            ("\(Document.articles)/ProviderDetails.md", "PageCheckProvider"),
            ("\(Document.articles)/WriteAConsumer.md", "TicketConsumer"),
            ("\(Document.articles)/ProtectABackend.md", "Backend"),
            ("\(Document.articles)/ProtectABackend.md", "HummingbirdBackend"),
            ("\(Document.articles)/ProveRequests.md", "ProofDemandBackend"),
            ("Sources/AssayClient/AssayClient.docc/ComeFromFirebase.md", "FirebaseTokens"),
            ("Sources/AssayClient/AssayClient.docc/ComeFromFirebase.md", "AppCheckCoreTokens"),
        ])
    func sameCode(_ page: String, _ file: String) throws {
        let code = try Self.text("\(Self.folder)/\(file).swift")
        #expect(try Self.text(page).contains("```swift\n\(code)```\n"))
    }

    @Test("The article about embedding shows the main file of the example program")
    func sameMain() throws {
        let article = try Self.text("\(Document.articles)/EmbedTheEngine.md")
        #expect(article.contains("```swift\n\(try Self.text(Self.customServer))```\n"))
    }

    @Test("The article about providers shows every file of the template, except for those that it lists")
    func sameTemplate() throws {
        let article = try Self.text("\(Document.articles)/WriteAProvider.md")
        let files = try Self.files(in: Self.templates.appendingPathComponent("provider"))
        #expect(files.count == 11)
        for (path, text) in files {
            if article.contains("`\(path)`:\n\n```\(path.hasSuffix("yaml") ? "yaml" : "swift")\n\(text)```\n") {
                continue
            }
            #expect(["Package.swift", "Server/Package.swift", "README.md", ".gitignore"].contains(path), "\(path)")
        }
        #expect(article.contains("```swift\n\(try Self.text(Self.firstPackage))```\n"))
        #expect(try Self.text(Self.firstPackage).contains(".upToNextMinor(from: \"\(AssayVersion.text)\")"))
    }

    @Test("The changelog, the examples and the images have the version of the program")
    func version() throws {
        let version = AssayVersion.text
        let changelog = try Self.text(".github/CHANGELOG.md")
        let newest = try #require(changelog.split(separator: "\n").first { $0.hasPrefix("## ") })
        #expect(newest.split(separator: " ").dropFirst().first.map(String.init) == version)
        for file in [".packaging/kubernetes/assay.yaml", ".packaging/kubernetes/keys.yaml"] {
            let images = try Self.text(file).matches(of: /image: .*\/assay:(\S+)/).map { String($0.output.1) }
            #expect(images == [version], "\(file)")
        }
        let dependency = /github.com\/example\/assay", .upToNextMinor\(from: "([^"]+)"\)/
        for file in ["README.md", "Tests/NewPackages/Package.swift", "\(Document.articles)/WriteAProvider.md"] {
            let versions = try Self.text(file).matches(of: dependency).map { String($0.output.1) }
            #expect(!versions.isEmpty && versions.allSatisfy { $0 == version }, "\(file): \(versions)")
        }
        // Packages take it from the program.
        #expect(try Self.text(".packaging/build-deb").contains("version=$(\"$program\" --version)"))
    }

    @Test("All Swift code in the documentation is a file that is compiled here, or the dependency on this release")
    func noOtherCode() throws {
        let requirement = ".upToNextMinor(from: \"\(AssayVersion.text)\")"
        let dependency = ".package(url: \"https://github.com/example/assay\", \(requirement))\n"
        var known: Set<String> = [dependency]
        for name in try FileManager.default.contentsOfDirectory(
            atPath: Document.root.appendingPathComponent(Self.folder).path) where name.hasSuffix(".swift")
        {
            known.insert(try Self.text("\(Self.folder)/\(name)"))
        }
        known.insert(try Self.text(Self.customServer))
        known.insert(try Self.text(Self.firstPackage))
        known.formUnion(try Self.files(in: Self.templates).values)
        for document in try Document.all() {
            for block in document.blocks where block.language == "swift" {
                #expect(known.contains(block.code), "\(document.path)")
            }
        }
    }

    @Test(
        "The articles about proxies show the very configurations that are tested with the proxies",
        arguments: [
            ("Proxies", "nginx.conf", "nginx"), ("Proxies", "Caddyfile", ""), ("Proxies", "haproxy.cfg", ""),
            ("Proxies", "traefik-dynamic.yaml", "yaml"), ("Envoy", "envoy-http.yaml", "yaml"),
            ("Envoy", "envoy-grpc.yaml", "yaml"),
        ])
    func sameConfiguration(_ page: String, _ file: String, _ language: String) throws {
        let article = try Self.text("\(Document.articles)/\(page).md")
        let configuration = try Self.text("Tests/Clients/proxies/\(file)")
        #expect(article.contains("```\(language)\n\(configuration)```\n"))
    }

    @Test(
        "What a proxy must set or remove is named wherever an operator looks",
        arguments: [
            "\(Document.articles)/Proxies.md", "\(Document.articles)/Envoy.md",
            "Plugins/Consumers/CustomBackend/CustomBackend.docc/CustomBackend.md", "Tests/Clients/proxies/nginx.conf",
            "Tests/Clients/proxies/Caddyfile",
        ])
    func proxiedHeaders(_ path: String) throws {
        let text = try Self.text(path).lowercased()
        let names = CustomBackendConsumer.methods.flatMap { $0.descriptor?.binding.replyHeaders ?? [] }.map(\.name)
        #expect(names.count == 5)
        for name in names { #expect(text.contains(name), "\(name)") }
        #expect(text.contains("five headers") || !path.hasSuffix("Proxies.md"))
    }

    @Test(
        "The article about stages shows the very files of the example",
        arguments: ["shared", "production/production", "staging/staging"])
    func sameStages(_ file: String) throws {
        let article = try Self.text("\(Document.articles)/Stages.md")
        #expect(article.contains("```yaml\n\(try Self.text("Tests/Examples/Stages/\(file).yaml"))```\n"))
    }

    @Test(
        "The shortest policy is accepted, in production too",
        arguments: ["README.md", "\(Document.articles)/WritePolicies.md", "\(Document.articles)/ProveRequests.md"])
    func policy(_ page: String) throws {
        let block = try #require(try Document(page).blocks.first { $0.language == "yaml" })
        _ = try Engine(
            registry: Registry([.provider(AppAttestProvider.self), .consumer(CustomBackendConsumer.self)]),
            policies: .load([PolicyFile(name: "policy.yaml", text: block.code)]), keys: .ephemeral(),
            host: PluginHost(
                store: MemoryStore(clock: .system),
                logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })),
            options: Engine.Options(refusesDevelopment: true))
    }

    @Test("The picture of the modules is what Package.swift says")
    func modules() throws {
        let article = try Document("\(Document.articles)/Architecture.md")
        let picture = try #require(article.blocks.first { $0.language == "mermaid" })
        let edges = picture.code.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        #expect(edges.first == ["graph", "TD"])
        var drawn: [String: Set<String>] = [:]
        for edge in edges.dropFirst() {
            try #require(edge.count == 3 && edge[1] == "-->", "\(edge)")
            drawn[edge[0], default: []].insert(edge[2])
        }
        let declared = try PackageManifest.dependencies()
        #expect(declared["AssayEngine"]?.contains("AssayKit") == true)
        #expect(Set(drawn.keys).isSubset(of: declared.keys))
        for (module, dependencies) in declared {
            let shown = drawn[module] ?? []
            #expect(shown.subtracting(dependencies) == [], "\(module) does not depend on these")
            let reached = PackageManifest.reached(from: module, by: drawn)
            #expect(dependencies.subtracting(reached) == [], "\(module) depends on these, too")
            guard module.hasPrefix("Assay") else { continue }
            let isDescribed = article.prose.contains { $0.hasPrefix("|") && $0.contains("`\(module)`") }
            #expect(isDescribed, "\(module)")
        }
    }

    @Test("The table of claims lists what the issuer of tokens writes")
    func claims() throws {
        let issuer = try Self.text("Sources/AssayEngine/Keys/TokenIssuer.swift")
        let written = Set(issuer.matches(of: #/JSONMember\("(\w+)"/#).map { String($0.output.1) })
        #expect(written.isSuperset(of: ["iss", "assay_mark"]))
        let rows = try Document("\(Document.articles)/UseTokens.md").table(under: "claim")
        #expect(Set(rows.flatMap { $0[0].codeSpans }) == written)
    }

    @Test("The table of the traits is what Package.swift says")
    func traits() throws {
        let article = try Document("\(Document.articles)/Architecture.md")
        let (implied, standard) = try PackageManifest.traits()
        #expect(implied.count > 15 && implied["Standard"]?.contains("Webhook") == true)
        let isOn = standard.union(standard.flatMap { PackageManifest.reached(from: $0, by: implied) })
        var described: Set<String> = []
        for row in article.table(under: "trait") {
            try #require(row.count == 4, "\(row)")
            for trait in row[0].codeSpans {
                #expect(described.insert(trait).inserted, "\(trait) has two rows")
                #expect((row[1] == "yes") == isOn.contains(trait), "\(trait) by default")
                #expect(Set(row[2].codeSpans) == implied[trait], "\(trait) implies these")
            }
        }
        #expect(described == Set(implied.keys))
    }

    @Test("The table of the kernel's folders lists those that exist")
    func folders() throws {
        let article = try Document("\(Document.articles)/Architecture.md")
        let kernel = Document.root.appendingPathComponent("Sources/AssayEngine")
        let folders = try FileManager.default.contentsOfDirectory(atPath: kernel.path).filter { name in
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(
                atPath: kernel.appendingPathComponent(name).path, isDirectory: &isFolder)
                && isFolder.boolValue && !name.hasSuffix(".docc")
        }
        let listed = article.table(under: "folder of `AssayEngine`").flatMap { $0[0].codeSpans }
        #expect(listed.sorted() == folders.sorted())
    }
}

extension String {
    /// What stands between grave accents.
    fileprivate var codeSpans: [String] { matches(of: #/`([^`]+)`/#).map { String($0.output.1) } }
}
