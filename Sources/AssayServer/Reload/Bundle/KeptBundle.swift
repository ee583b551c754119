internal import AssayCore
internal import AssayEngine
internal import AssayPolicy
internal import AssayServices

/// The last bundle that was in force, and the greatest version that ever was, in a folder of this machine.
struct KeptBundle: Sendable {
    /// A version, and which content had it.
    struct Newest: Sendable {
        let version: Int64
        /// ``PolicyBundle/digest``.
        let digest: String

        init(_ bundle: PolicyBundle) {
            version = bundle.version
            digest = bundle.digest
        }

        init?(_ bytes: [UInt8]) {
            guard let json = try? JSON.parse(bytes), let version = json["version"]?.integer,
                let digest = json["sha256"]?.string
            else { return nil }
            self.version = version
            self.digest = digest
        }

        var json: JSON { ["version": .integer(version), "sha256": .string(digest)] }

        /// Why a bundle must not take effect; nil when it may.
        func problem(with bundle: PolicyBundle) -> String? {
            if bundle.version < version {
                return
                    "its version \(bundle.version) is older than version \(version), which was in force here: to go back to "
                    + "earlier policies, sign them again (`policy bundle create`)"
            }
            if bundle.version == version, !bundle.digest.isExactly(digest) {
                return
                    "its version \(version) was in force here with other content: sign it again with a greater version"
            }
            return nil
        }
    }

    private let bundle: PrivateFile
    private let mark: PrivateFile

    init(folder: String) {
        bundle = PrivateFile(directory: folder, name: "policies.bundle", sizeLimit: PolicyBundle.byteLimit)
        mark = PrivateFile(directory: folder, name: "newest.json", sizeLimit: 4096)
    }

    /// What the bundle is called in messages.
    var path: String { bundle.path }

    /// The bytes of the bundle, which anything may have changed since; nil when there is none.
    func bytes() throws(KeyError) -> [UInt8]? { try bundle.read()?.bytes }

    /// The greatest version that was in force; nil when none was.
    ///
    /// - Throws: ``KeptBundleError`` when it cannot be known.
    func newest() throws(KeptBundleError) -> Newest? {
        do throws(KeyError) {
            guard let bytes = try mark.read()?.bytes else { return nil }
            if let newest = Newest(bytes) { return newest }
        } catch {
            throw KeptBundleError(description: "which version of the policy bundle was in force is not known: \(error)")
        }
        throw KeptBundleError(
            description:
                "\(mark.path) is damaged, which has the version of the policy bundle that was in force: restore it, or "
                + "delete it to accept any version that is signed")
    }

    /// Keeps a bundle that is in force, unless a newer one was kept by another process.
    func keep(_ bytes: [UInt8], of new: PolicyBundle) throws(KeyError) {
        try mark.locked { () throws(KeyError) in
            let present = (try mark.read()?.bytes).flatMap(Newest.init)
            guard present.map({ $0.version <= new.version }) ?? true else { return }
            // In this order: after a crash in between, the bundle has a version of its own.
            try bundle.write(bytes)
            try mark.write(Newest(new).json.encoded)
        }
    }
}

/// Why a bundle cannot be judged.
struct KeptBundleError: Error, CustomStringConvertible {
    let description: String
}
