import AndroidKey
import AssayCommand
import AssayEngine
import AssaySQLite

await AssayProgram(
    name: "android-key-server", version: "1.0.0",
    plugins: [.provider(AndroidKeyProvider.self), .store(SQLiteStore.self)]
).main()
