internal import ArgumentParser
internal import AssayServer
internal import AssayServices

/// Whether and where evidence is captured.
struct CaptureOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            A folder, with the mode 0700, that receives the evidence which the section `capture` of the policies asks for, \
            encrypted. Decisions do not wait for it.
            """, valueName: "folder"))
    var capture: String?

    @Option(
        help: "How many pieces of evidence a second this server captures at most, of all apps together.",
        valueName: "number", reading: .number(1...10_000))
    var captureRate = EvidenceFolder.Options().perSecond

    /// The folder; nil for none.
    var folder: CaptureFolder? {
        capture.map { path in
            var folder = CaptureFolder(path: path)
            folder.perSecond = captureRate
            return folder
        }
    }
}
