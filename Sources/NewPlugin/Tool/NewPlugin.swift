internal import Foundation

/// Writes a package with a new plugin: what `swift package new-provider`, `new-consumer` and `new-store` run.
@main
struct NewPlugin {
    static func main() {
        do {
            let request = try Request(Array(CommandLine.arguments.dropFirst()))
            let files = try Template(request.kind, in: request.templates).files(for: request.name, on: request.assay)
            let package = NewPackage(request.name, in: request.parent)
            try package.write(files)
            let folder = package.folder.lastPathComponent
            for file in files { print("\(folder)/\(file.path)") }
            print("The package is written. Next: cd \(folder) && swift test")
        } catch {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            exit(1)
        }
    }
}
