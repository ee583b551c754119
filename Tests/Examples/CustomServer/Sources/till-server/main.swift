import AssayCommand
import AssayEngine
import AssayStandard

await AssayProgram(
    name: "till-server", version: "1.4.0",
    plugins: .standard + [.provider(TillProvider.self)],
    commands: .standard + [.command(TillKeyCommand.self)]
).main()
