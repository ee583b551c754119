extension PolicyKey {
    /// Which values of a key are for development only. A server for production (`assay serve --production`) refuses them at
    /// their line; the plugin itself need not look at them.
    public enum Development: Sendable, Hashable {
        /// URLs of this machine (``EndpointURL/isOnThisMachine``), at which something stands in for another server.
        case localURLs
        /// Any value at all, such as the root of a simulated authority.
        case anyValue
        /// These words, whatever the letter case, and URLs of this machine. `true` and `false` are words, too; of a list,
        /// each element is looked at.
        case words([ExactText])
        /// None, not even URLs of this machine: for a server that is meant to run beside this one.
        case none
    }

    /// What the words in a value are names of. A name that is not known is refused at its line, with what was perhaps meant;
    /// the plugin itself need not look at them.
    public enum Names: Sendable, Hashable {
        /// Providers: those of the program, and the kernel's own for minted tokens. A list is questionable where no app of
        /// the project has any of them.
        case providers
        /// App IDs and OAuth client IDs of the project.
        case apps
    }
}
