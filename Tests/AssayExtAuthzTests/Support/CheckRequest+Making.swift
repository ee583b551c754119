import AssayCore
import AssayKit
import Foundation
import SwiftProtobuf

@testable import AssayExtAuthz

typealias CheckRequest = Envoy_Service_Auth_V3_CheckRequest
typealias CheckResponse = Envoy_Service_Auth_V3_CheckResponse

extension CheckRequest {
    /// What Envoy sends.
    ///
    /// - Parameters:
    ///   - headers: merged by their names.
    ///   - raw: each as it came.
    static func about(
        _ method: String = "POST", _ path: String = "/orders?page=2", headers: [(String, String)] = [],
        raw: [(String, String)] = [], backend: String? = nil
    ) -> CheckRequest {
        var request = CheckRequest()
        request.attributes.request.http.method = Data(method.utf8)
        request.attributes.request.http.path = Data(path.utf8)
        request.attributes.source.address.socketAddress.address = "192.0.2.7"
        for (name, value) in headers {
            request.attributes.request.http.headers.append(
                .with {
                    $0.key = Data(name.utf8)
                    $0.value = Data(value.utf8)
                })
        }
        for (name, value) in raw {
            request.attributes.request.http.headerMap.headers.append(
                .with {
                    $0.key = Data(name.utf8)
                    $0.rawValue = Data(value.utf8)
                })
        }
        if let backend { request.name(backend: Data(backend.utf8)) }
        return request
    }

    /// Adds an entry to what a route's configuration says.
    mutating func name(backend: Data) {
        attributes.contextExtensions.append(
            .with {
                $0.key = Data("backend".utf8)
                $0.value = backend
            })
    }
}

extension CheckResponse {
    /// The headers that the backend gets.
    var findings: [String: String] { okResponse.headers.texts }
    /// The headers that the client gets.
    var refusal: [String: String] { deniedResponse.headers.texts }
    var isLeave: Bool {
        if case .okResponse? = httpResponse { hasStatus && status.code == 0 } else { false }
    }
    var isDenial: Bool {
        if case .deniedResponse? = httpResponse { hasStatus && status.code != 0 } else { false }
    }
}

extension [Envoy_Config_Core_V3_HeaderValueOption] {
    fileprivate var texts: [String: String] {
        Dictionary(
            map { (String(decoding: $0.header.key, as: UTF8.self), String(decoding: $0.header.value, as: UTF8.self)) },
            uniquingKeysWith: { "\($0), \($1)" })
    }
}
