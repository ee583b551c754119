internal import AssayEngine
internal import AssayKit
internal import AssayServices
internal import Logging

extension OpenKeys {
    /// Decides whether a server may make the first keys, and says so; nothing happens where there are keys.
    ///
    /// An empty place that servers share, or beside a state that they share, may be the wrong one, or one that has lost its
    /// keys.
    ///
    /// - Parameter isAsked: whether the operator asked for new keys.
    /// - Throws: ``KeyError`` when keys are missing that nobody asked for, or are there although new ones were asked for.
    func prepareFirstKeys(
        isAsked: Bool, state: StorageDescriptor?, program: String, logger: Logger
    ) throws(KeyError) {
        if try store.hasKeys {
            guard !isAsked else {
                throw KeyError(
                    "there are keys already in \(name): start without --new-keys, which is for the first start only")
            }
            return
        }
        guard isAsked || (!isInVault && state?.sharing != .servers) else {
            throw KeyError(
                "there are no keys in \(name), and servers share \(isInVault ? "it" : "the state"): it may be the wrong place, or "
                    + "one that has lost its keys. If the service has had keys, name the right place or restore them: new ones shut out "
                    + "every device that was attested before. For a new service, make them once with `\(program) keys init`, or start one "
                    + "server with --new-keys")
        }
        store.allowFirstKeys()
        logger.warning(
            "there are no keys: the first ones are made; back them up, since no device that was attested works without them",
            metadata: ["keys": "\(name)"])
    }
}
