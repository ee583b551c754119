public import AssayEngine
internal import AssayKit
internal import Logging

extension ReloadSubject {
    /// The keys of a service; policies and instances of plugins stay as they are.
    public static func keys(in store: KeyStore, for engine: Engine) -> ReloadSubject {
        ReloadSubject("keys", fingerprint: { FileFingerprint(of: store.files) }) {
            // The engine says itself which keys it took up.
            try engine.reloadKeys() ? [:] : nil
        }
    }
}
