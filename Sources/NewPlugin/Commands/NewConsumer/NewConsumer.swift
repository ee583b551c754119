import Foundation
import PackagePlugin

/// `swift package --allow-writing-to-package-directory new-consumer NAME`: a package with a new consumer.
@main
struct NewConsumer: CommandPlugin {
    func performCommand(context: PluginContext, arguments: [String]) throws {
        let packages = [context.package] + context.package.dependencies.map(\.package)
        guard let assay = packages.first(where: { $0.targets.contains { $0.name == "new-plugin" } }) else {
            throw Failure(description: "the package does not depend on Assay")
        }
        let origin =
            switch assay.origin {
            case .repository(let url, let version, let revision):
                version.first?.isNumber == true && version.contains(".")
                    ? ["release", url, version] : ["commit", url, revision]
            default: ["folder", assay.directoryURL.path]
            }
        let tool = Process()
        tool.executableURL = try context.tool(named: "new-plugin").url
        tool.arguments =
            ["consumer", assay.directoryURL.appendingPathComponent("Sources/NewPlugin/Templates").path]
            + [context.package.directoryURL.path] + origin + ["--"] + arguments
        let errors = Pipe()
        tool.standardError = errors
        try tool.run()
        let text = errors.fileHandleForReading.readDataToEndOfFile()
        tool.waitUntilExit()
        guard tool.terminationStatus == 0 else {
            throw Failure(description: String(decoding: text, as: UTF8.self).trimmingCharacters(in: .newlines))
        }
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }
}
