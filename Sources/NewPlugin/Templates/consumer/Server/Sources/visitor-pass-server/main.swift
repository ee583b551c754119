import AssayCommand
import AssayDebug
import AssayEngine
import AssaySQLite
import VisitorPass

await AssayProgram(
    name: "visitor-pass-server", version: "0.1.0",
    plugins: [.provider(DebugProvider.self), .consumer(VisitorPassConsumer.self), .store(SQLiteStore.self)]
).main()
