import AssayCommand
import AssayEngine
import AssaySQLite
import DoorLock

await AssayProgram(
    name: "door-lock-server", version: "0.1.0",
    plugins: [.provider(DoorLockProvider.self), .store(SQLiteStore.self)]
).main()
