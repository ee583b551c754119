import AssayCore
import AssayEngine
import AssayKit

/// Refuses evidence of a debug token from now on; returns the entry's ID, the last part of its name.
func denyDebugToken(
    _ token: String, in project: String, of engine: Engine, as caller: BearerToken
) async throws -> String? {
    let entry: JSON = ["match": ["debug_token": .string(token)], "note": "incident 42"]
    let reply = await engine.handle(
        Call("createDenyEntry", resource: project, body: ["denyEntry": entry], credentials: caller))
    return try reply.result.get()["name"]?.string?.split(separator: "/").last.map { String($0) }
}

/// Removes an entry by its ID.
func removeDenyEntry(_ id: String, in project: String, of engine: Engine, as caller: BearerToken) async throws {
    let reply = await engine.handle(
        Call("deleteDenyEntry", resource: project, body: ["denyEntryId": .string(id)], credentials: caller))
    _ = try reply.result.get()
}
