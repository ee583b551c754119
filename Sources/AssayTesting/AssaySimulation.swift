/// Simulated devices belong to the test kit, too: a test that imports it needs no second import.
@_exported public import AssaySimulation
