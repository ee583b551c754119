internal import ArgumentParser
internal import AssayCore
internal import AssayCrypto
internal import AssayEngine
internal import AssayPolicy
internal import AssayServer
internal import AssayYAML

/// `assay policy bundle create`.
struct BundleCreateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Check and sign the policies of a folder.",
        discussion: """
            Puts every policy of the folder into the bundle; tests (*_test.yaml) and plugins.yaml are left out, but the plugins that \
            plugins.yaml names are started and asked. Policies with errors are not signed. Secrets are not read: on each server, \
            `file:` and `env:` are what they are there. A bundle has at most 16 MiB, which is room for about 12 MiB of policies.

            The same files with the same --number and --expires differ in `iat` and in the signature only. Exits with 1 for \
            policies with errors.
            """)

    @Option(
        help: ArgumentHelp(
            "The private key in PEM, in a file for this user only; `keygen` makes one.", valueName: "file"),
        completion: .file(extensions: ["pem", "key"]))
    var key: String

    @Option(help: ArgumentHelp("The file of the bundle; an existing one is replaced.", valueName: "file"))
    var out: String

    @Option(
        help: "The version, greater than that of every earlier bundle. By default the time in seconds since 1970.",
        valueName: "number", reading: .number(1...Int(PolicyBundle.greatestVersion)))
    var number: Int?

    @Option(
        help:
            "When the bundle is out of date; from then on servers report \"degraded\", and its policies stay in force.",
        valueName: "time", reading: .future)
    var expires: Instant?

    @Flag(help: "Also refuse what is for development, as `serve --production` does.")
    var production = false

    @Flag(help: "Sign also policies with errors; servers that find them refuse the bundle.")
    var allowErrors = false

    @Argument(help: "The folder of policy files.", completion: .directory)
    var directory = "policies"

    func run() async throws {
        let directory = PolicyDirectory(directory)
        do {
            let key = try BundleKeyFile.privateKey(key)
            let files = try directory.files()
            try await check(PolicySet.read(files), in: directory)
            let now = HostClock.system.now
            if let expires, expires <= now {
                throw BundleKeyError("--expires \(expires) is over: every server would refuse the bundle")
            }
            let bundle = try PolicyBundle(
                files, version: number.map(Int64.init) ?? now.seconds, issued: now, expires: expires)
            let bytes = try bundle.signed(with: key)
            do throws(FileFailure) {
                try ReplaceableFile.put(bytes, in: out)
            } catch {
                throw BundleKeyError("\(out): \(error.message)")
            }
            try Terminal.say(
                "\(out): version \(bundle.version), \(bundle.files.count.counting("file")), revision "
                    + "\(bundle.policies(in: out).revision), signed by \(JWK(key.publicKey).thumbprint)")
        } catch let error as ExitCode {
            throw error
        } catch let error as OutputError {
            throw error
        } catch let problems as Diagnostics {
            for problem in problems.all { Terminal.note(problem.description) }
            throw ExitCode.couldNotRun
        } catch let error as PolicyBundleError {
            Terminal.report("\(directory.path) cannot be a bundle: \(error)")
            throw ExitCode.couldNotRun
        } catch {
            Terminal.report(error)
            throw ExitCode.couldNotRun
        }
    }

    private func check(_ policies: PolicySet, in directory: PolicyDirectory) async throws {
        let withheld = WithheldSecrets()
        do {
            _ = try await PluginProcesses.with(in: directory) { registry in
                try policies.check(
                    registry, host: CheckedPolicies.host(withheld), refusesDevelopment: production)
            }
        } catch let problems as Diagnostics {
            for problem in problems.all { Terminal.note(problem.description) }
            guard allowErrors else {
                Terminal.report(
                    "the policies in \(directory.path) have errors and are not signed; correct them, or use --allow-errors"
                )
                throw ExitCode.refused
            }
        }
        if directory.pluginsPath != nil {
            Terminal.note(
                "warning: plugins.yaml is not in the bundle, because it starts programs: put it into a folder on each server, and "
                    + "name the folder with --bundle-plugins")
        }
        let references = withheld.references.map(\.description).sortedExactly()
        for reference in references
        where reference.starts(withExactly: "file:") && !reference.starts(withExactly: "file:/") {
            Terminal.note(
                "warning: \(reference) is relative: on each server it begins at the folder that the server runs in")
        }
    }
}
