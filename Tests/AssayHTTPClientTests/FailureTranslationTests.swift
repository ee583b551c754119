import AssayCore
import AsyncHTTPClient
import Foundation
import NIOCore
import NIOSSL
import Testing

@testable import AssayHTTPClient

#if canImport(Glibc)
import Glibc
import SwiftOverlayShims
#else
import Darwin
#endif

@Suite("Errors of the layers below, in the terms of the contract")
struct FailureTranslationTests {
    private struct Strange: Error, CustomStringConvertible {
        let description: String
    }

    private func failure(_ error: any Error) throws -> OutboundFailure {
        OutboundFailure(error, calling: try #require(EndpointURL("https://example.com:8443/secret-path?secret=1")))
    }

    private static let cases: [(any Error & Sendable, OutboundFailure.Code)] = [
        (HTTPClientError.deadlineExceeded, .timedOut), (HTTPClientError.readTimeout, .timedOut),
        (HTTPClientError.connectTimeout, .timedOut), (HTTPClientError.tlsHandshakeTimeout, .timedOut),
        (HTTPClientError.getConnectionFromPoolTimeout, .timedOut),
        (HTTPClientError.cancelled, .cancelled), (CancellationError(), .cancelled),
        (HTTPClientError.alreadyShutdown, .closed), (HTTPClientError.proxyAuthenticationRequired, .cannotConnect),
        (HTTPClientError.invalidURL, .invalidRequest), (HTTPClientError.emptyHost, .invalidRequest),
        (HTTPClientError.invalidHeaderFieldNames(["a b"]), .invalidRequest),
        (HTTPClientError.invalidHeaderFieldValues(["a\n"]), .invalidRequest),
        (HTTPClientError.unsupportedScheme("ftp"), .invalidRequest),
        (HTTPClientError.remoteConnectionClosed, .interrupted),
        (TooManyInformationalResponses(), .tooLarge),
        (NIOSSLError.handshakeFailed(.sslError([])), .tlsRefused),
        (NIOSSLExtraError.failedToValidateHostname, .tlsRefused),
        (ChannelError.connectTimeout(.seconds(1)), .cannotConnect),
        (SocketAddressError.unsupported, .cannotConnect),
        (IOError(errnoCode: ECONNREFUSED, reason: "connect"), .cannotConnect),
        (IOError(errnoCode: ENETUNREACH, reason: "connect"), .cannotConnect),
        (IOError(errnoCode: ECONNRESET, reason: "read"), .interrupted),
        (IOError(errnoCode: EPIPE, reason: "write"), .interrupted),
    ]

    @Test(
        "Each has the code that callers decide by, names the server, and nothing else of the request",
        arguments: cases.indices)
    func codes(_ index: Int) throws {
        let (error, code) = FailureTranslationTests.cases[index]
        let failure = try failure(error)
        #expect(failure.code == code)
        #expect(failure.detail.contains("example.com:8443"))
        #expect(!failure.detail.contains("secret"))
    }

    @Test("What is a failure of the contract already stays as it is")
    func own() throws {
        #expect(try failure(OutboundFailure(.busy, "x")) == OutboundFailure(.busy, "x"))
    }

    @Test("The system's own words are shown, not those of the layers around them")
    func words() throws {
        let refused = try failure(IOError(errnoCode: ECONNREFUSED, reason: "connection reset (error set)"))
        #expect(refused.detail.isExactly("example.com:8443: \(String(cString: strerror(ECONNREFUSED)))"))
    }

    @Test("Of an unknown error only the start is shown, and no byte that could leave the line")
    func unknown() throws {
        let text = "a\nb\u{1B}[31m\u{E9}" + String(repeating: "x", count: 10_000)
        let failure = try failure(Strange(description: text))
        #expect(failure.code == .interrupted)
        #expect(failure.detail.starts(withExactly: "example.com:8443: a?b?[31m??xxx"))
        #expect(failure.detail.ends(withExactly: "xxx..."))
        #expect(failure.detail.utf8.count < 400)
    }
}
