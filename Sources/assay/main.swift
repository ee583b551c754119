import AssayCommand
import AssayCore
import AssayStandard

await AssayProgram(
    name: "assay", version: AssayVersion.text, plugins: .standard, commands: .standard, suites: { try .standard }
).main()
