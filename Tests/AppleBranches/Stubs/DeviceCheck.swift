// swift-format-ignore-file
public import Foundation

public final class DCDevice: @unchecked Sendable {
    public static var current: DCDevice { DCDevice() }
    public var isSupported: Bool { true }
    public func generateToken() async throws -> Data { Data() }
}
public final class DCAppAttestService: @unchecked Sendable {
    public static var shared: DCAppAttestService { DCAppAttestService() }
    public var isSupported: Bool { true }
    public func generateKey() async throws -> String { "" }
    public func attestKey(_ keyId: String, clientDataHash: Data) async throws -> Data { Data() }
    public func generateAssertion(_ keyId: String, clientDataHash: Data) async throws -> Data { Data() }
}
public struct DCError: Error {
    public enum Code: Int, Sendable {
        case unknownSystemFailure, featureUnsupported, invalidInput, invalidKey, serverUnavailable
    }
    public var code: Code
}
