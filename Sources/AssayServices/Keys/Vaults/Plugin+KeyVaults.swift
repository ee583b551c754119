public import AssayEngine

extension [Plugin] {
    /// The places of keys that Assay knows by itself, a folder of the machine and the state store of the service, for the list of a
    /// program's plugins; `Registry.openKeys` opens them also without.
    public static var keyVaults: [Plugin] { [.vault(FileKeyVault.self), .vault(StateKeyVault.self)] }
}
