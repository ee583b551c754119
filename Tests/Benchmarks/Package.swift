// swift-tools-version: 6.2

import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

// A package of its own, so that nobody who uses Assay fetches what it is compared with.
let package = Package(
    name: "benchmarks",
    dependencies: [
        .package(name: "assay", path: "../.."),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0", traits: []),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        // The peer that tokens are verified with.
        .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.1"),
    ],
    targets: [
        .target(name: "CBareCrypto", linkerSettings: [.linkedLibrary("crypto")]),
        .target(name: "CAllocations"),
        .target(name: "CLoad"),
        // A plugin in a process of its own. The messages and frames are Assay's: links lead to them.
        .executableTarget(
            name: "PluginProcess", dependencies: [.product(name: "SwiftProtobuf", package: "swift-protobuf")],
            swiftSettings: settings),
        .executableTarget(
            name: "Benchmarks",
            dependencies: [
                "CBareCrypto",
                "CAllocations",
                "CLoad",
                "PluginProcess",
                .product(name: "AssayClient", package: "assay"),
                .product(name: "AssayCore", package: "assay"),
                .product(name: "AssayKit", package: "assay"),
                .product(name: "AssayPolicy", package: "assay"),
                .product(name: "AssayCrypto", package: "assay"),
                .product(name: "AssayTesting", package: "assay"),
                .product(name: "AssayEngine", package: "assay"),
                .product(name: "AssayServices", package: "assay"),
                .product(name: "AssayProcesses", package: "assay"),
                .product(name: "AssayRequestProof", package: "assay"),
                .product(name: "AssayVerifier", package: "assay"),
                .product(name: "AssayHTTPServer", package: "assay"),
                .product(name: "AssayAndroidKey", package: "assay"),
                .product(name: "AssayAppAttest", package: "assay"),
                .product(name: "AssayCustomBackend", package: "assay"),
                .product(name: "AssayDebug", package: "assay"),
                .product(name: "AssayFleetEngine", package: "assay"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "JWTKit", package: "jwt-kit"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: settings),
    ]
)
