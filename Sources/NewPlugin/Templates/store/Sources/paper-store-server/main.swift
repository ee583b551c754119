import AssayCommand
import AssayDebug
import AssayEngine
import PaperStore

await AssayProgram(
    name: "paper-store-server", version: "0.1.0",
    plugins: [.provider(DebugProvider.self), .store(PaperStore.self)],
    state: "paper_store:paper-store.journal"
).main()
