/// Names that a new plugin cannot have.
enum ReservedNames {
    /// What a name is already: a plugin of Assay, a word of Swift, a module; nil for a free name.
    static func owner(ofName name: String, module: String) -> String? {
        if contains(plugins, name) { return "a plugin that comes with Assay" }
        if name.utf8.starts(with: "assay".utf8) { return "how the modules of Assay begin" }
        if contains(keywords, name) { return "a keyword of Swift" }
        if contains(modules, lowercased(module)) {
            return "a module that the new package would import, or a word of Swift"
        }
        return nil
    }

    /// The names of Assay's own plugins, and those that the kernel uses where names of plugins stand.
    private static let plugins = [
        "android_key", "app_attest", "custom_backend", "custom_token", "debug", "device_check", "fleet_engine",
        "h_captcha", "hcaptcha", "memory", "minted", "oauth_client", "play_integrity", "postgres",
        "privacy_pass", "private_token",
        "recaptcha_enterprise", "recaptcha_v3", "redis", "rediss", "sqlite", "turnstile",
    ]

    private static let keywords = [
        "actor", "any", "as", "associatedtype", "async", "await", "break", "case", "catch", "class", "continue",
        "default",
        "defer", "deinit", "do", "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func",
        "guard",
        "if", "import", "in", "init", "inout", "internal", "is", "let", "macro", "nil", "open", "operator", "package",
        "precedencegroup", "private", "protocol", "public", "repeat", "rethrows", "return", "self", "some", "static",
        "struct", "subscript", "super", "switch", "throw", "throws", "true", "try", "typealias", "var", "where",
        "while",
    ]

    /// In lower case: some file systems do not tell the cases apart.
    private static let modules = [
        "argumentparser", "builtin", "crypto", "cxx", "darwin", "dispatch", "distributed", "foundation",
        "foundationessentials", "foundationinternationalization", "foundationnetworking", "glibc", "logging", "main",
        "metrics", "musl", "observation", "packagedescription", "packageplugin", "regexbuilder", "swift",
        "synchronization", "test", "testing", "tests", "type", "xctest",
    ]

    private static func contains(_ names: [String], _ name: String) -> Bool {
        names.contains { $0.utf8.elementsEqual(name.utf8) }
    }

    private static func lowercased(_ module: String) -> String {
        String(decoding: module.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }
}
