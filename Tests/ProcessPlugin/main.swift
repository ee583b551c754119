#if Processes
import AssayProcesses
import Foundation
import NIOCore
import SwiftProtobuf

// A plugin in a process of its own, for tests and benchmarks: it does what the field `say` of a request tells it, also what no plugin may
// do.

let arguments = CommandLine.arguments.dropFirst()
if arguments.first == "exit" { exit(7) }
if arguments.first == "silent" { while true { sleep(600) } }

guard let socket = ProcessInfo.processInfo.environment["ASSAY_PLUGIN_SOCKET"] ?? arguments.dropFirst().first else {
    FileHandle.standardError.write(Data("no socket is named\n".utf8))
    exit(2)
}
let scripted = ScriptedPlugin(mode: arguments.first ?? "")
let ticket = TicketPlugin.Flaw(rawValue: arguments.first ?? "").map { TicketPlugin($0) }
let listener = try await UnaryListener.listen(
    on: socket, services: ["assay.plugin.v1.Plugin", "assay.plugin.v1.Simulator"], requestLimit: 1 << 20
) { method, request in
    if let ticket { return try await ticket.answer(method, request) }
    return try await scripted.answer(method, request)
}
print("the plugin listens")
fflush(nil)
while true { try await Task.sleep(for: .seconds(600)) }
#endif
