#if canImport(DeviceCheck)
internal import DeviceCheck
internal import Foundation
#endif

/// Exchanges a token of Apple's DeviceCheck: for devices without App Attest.
public struct DeviceCheckProvider: AppCheckProvider {
    private let deviceToken: @Sendable () async throws -> [UInt8]

    /// Makes a provider.
    ///
    /// - Parameter deviceToken: makes a new token of the device, which is good for one call.
    public init(deviceToken: @escaping @Sendable () async throws -> [UInt8]) {
        self.deviceToken = deviceToken
    }

    /// Exchanges a new token of the device.
    public func token(_ request: TokenRequest) async throws -> IssuedToken {
        let token: [UInt8]
        do {
            token = try await deviceToken()
        } catch let error as AppCheckError {
            throw error
        } catch {
            throw AppCheckError(.deviceFailed, "The device made no DeviceCheck token. Try again later.", cause: error)
        }
        return try await request.service.exchange(
            "exchangeDeviceCheckToken", ["device_token": .bytes(token)], isLimitedUse: request.isLimitedUse)
    }
}

#if canImport(DeviceCheck)
extension DeviceCheckProvider {
    /// Makes a provider for this device.
    public init() {
        self.init {
            guard DCDevice.current.isSupported else {
                throw AppCheckError(.unsupportedDevice, "This device has no DeviceCheck: simulators have none.")
            }
            return Array(try await DCDevice.current.generateToken())
        }
    }
}
#endif
