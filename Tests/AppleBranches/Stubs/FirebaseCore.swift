// swift-format-ignore-file
// What an app's code uses of Firebase's core. The module is in Objective-C.
public import Foundation

public final class FirebaseOptions: NSObject {
    public var projectID: String? { nil }
    public var googleAppID: String { "" }
}
public final class FirebaseApp: NSObject {
    public static func configure() {}
    public var options: FirebaseOptions { FirebaseOptions() }
}
