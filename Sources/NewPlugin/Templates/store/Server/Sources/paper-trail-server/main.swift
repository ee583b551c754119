import AssayCommand
import AssayDebug
import AssayEngine
import PaperTrail

await AssayProgram(
    name: "paper-trail-server", version: "0.1.0",
    plugins: [.provider(DebugProvider.self), .store(PaperTrailStore.self)],
    state: "paper_trail:paper-trail.journal"
).main()
