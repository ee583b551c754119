import AssayCore
import AssayKit
import Foundation
import GRPCCore
import SwiftProtobuf
import Testing

@testable import AssayExtAuthz

/// What has a message in each of its fields' places: a tag, a length, and bytes.
private func nested(_ fields: [UInt8], _ bytes: [UInt8]) -> [UInt8] {
    fields.reversed().reduce(bytes) { inner, field in
        var length = inner.count
        var result = [field << 3 | 2]
        repeat {
            result.append(UInt8(length & 0x7F) | (length > 0x7F ? 0x80 : 0))
            length >>= 7
        } while length > 0
        return result + inner
    }
}

private let many = Array(repeating: [UInt8](nested([3], [])), count: 2000).flatMap(\.self)

/// Messages of few bytes that become many values.
private let large: [[UInt8]] = [
    nested([1, 4, 2], many), nested([1, 4, 2, 13], Array(repeating: nested([1], []), count: 2000).flatMap(\.self)),
    nested([1], Array(repeating: nested([10], []), count: 2000).flatMap(\.self)),
    nested([1], Array(repeating: nested([4], nested([2], [])), count: 2000).flatMap(\.self)),
    Array(repeating: nested([1], []), count: 2000).flatMap(\.self),
    // Numbers, and groups, that nothing knows.
    Array(repeating: [0x78, 1], count: 2000).flatMap(\.self),
    Array(repeating: [0x7B, 0x7C], count: 1000).flatMap(\.self),
]

@Suite("The fields of a check")
struct CheckDeserializerTests {
    private let deserializer = CheckDeserializer(ExtAuthzLimits())

    @Test("a check with more fields than it may have is not read", arguments: large)
    func tooMany(bytes: [UInt8]) {
        let error = #expect(throws: RPCError.self) { try deserializer.deserialize(bytes) }
        #expect(error?.code == .invalidArgument)
        #expect(error?.message.contains("fields") == true)
    }

    @Test("as many headers as there may be are read, in both forms")
    func most() throws {
        let fields = (0..<256).map { ("x-\($0)", "v") }
        let request = CheckRequest.about(headers: fields, raw: fields, backend: "orders")
        let read = try deserializer.deserialize(try request.serializedBytes() as [UInt8])
        #expect(read == request)
    }

    @Test("what is no message is not read", arguments: [[0xFF], [0x0A, 0x7F, 1], [0x0A, 0x02, 0x22, 0x7F], [0x0F]])
    func noMessage(bytes: [UInt8]) {
        #expect(throws: RPCError.self) { try deserializer.deserialize(bytes) }
    }

    @Test("a map whose keys Swift would compare slowly is read as entries")
    func slowKeys() throws {
        // Combining marks in descending order of class: normalised, they cost quadratic time.
        let marks = String(repeating: "\u{315}\u{300}\u{316}", count: 20_000)
        var request = CheckRequest.about(backend: "orders")
        request.attributes.contextExtensions.insert(
            .with {
                $0.key = Data(marks.utf8)
                $0.value = Data("v".utf8)
            }, at: 0)
        let read = try deserializer.deserialize(try request.serializedBytes() as [UInt8])
        let question = try AuthorizationQuestion(
            read, method: try DecidingMethod([.verifyRequest()]), limits: ExtAuthzLimits())
        #expect(question.call.body["backend"] == "orders")
    }
}
