// swift-format-ignore-file
public import Foundation

@available(macOS 10.15, iOS 11.0, tvOS 11.0, watchOS 9.0, *)
public final class DCDevice: @unchecked Sendable {
    public static var current: DCDevice { DCDevice() }
    public var isSupported: Bool { true }
    public func generateToken() async throws -> Data { Data() }
}
@available(macOS 11.0, iOS 14.0, tvOS 15.0, watchOS 9.0, *)
public final class DCAppAttestService: @unchecked Sendable {
    public static var shared: DCAppAttestService { DCAppAttestService() }
    public var isSupported: Bool { true }
    public func generateKey() async throws -> String { "" }
    public func attestKey(_ keyId: String, clientDataHash: Data) async throws -> Data { Data() }
    public func generateAssertion(_ keyId: String, clientDataHash: Data) async throws -> Data { Data() }
}
@available(macOS 10.15, iOS 11.0, tvOS 11.0, watchOS 9.0, *)
public struct DCError: Error {
    public enum Code: Int, Sendable {
        case unknownSystemFailure, featureUnsupported, invalidInput, invalidKey, serverUnavailable
    }
    public var code: Code
}
