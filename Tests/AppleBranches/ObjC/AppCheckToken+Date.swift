// swift-format-ignore-file
// What the client adds to a token where there is Foundation.
import AssayClient
import Foundation

extension AppCheckToken { var expirationDate: Date { fatalError() } }
