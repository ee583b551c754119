// swift-tools-version: 6.2

import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

let package = Package(
    name: "assay",
    products: [
        .executable(name: "assay", targets: ["assay"]),
        // What plugins are written to, and what they may need besides.
        .library(name: "AssayKit", targets: ["AssayKit"]),
        .library(name: "AssayCrypto", targets: ["AssayCrypto"]),
        .library(name: "AssayCBOR", targets: ["AssayCBOR"]),
        .library(name: "AssayTesting", targets: ["AssayTesting"]),
        // The same with sockets: simulated servers that are called over HTTP.
        .library(name: "AssayTestingHTTP", targets: ["AssayTestingHTTP"]),
        // JWTs of other issuers, for plugins that trust some.
        .library(name: "AssayJWT", targets: ["AssayJWT"]),
        // The kernel for embedders, its policies, and the errors in them.
        .library(name: "AssayEngine", targets: ["AssayEngine"]),
        // Verification of tokens, for backends.
        .library(name: "AssayVerifier", targets: ["AssayVerifier"]),
        .library(name: "AssayHummingbird", targets: ["AssayHummingbird"]),
        .library(name: "AssayPolicy", targets: ["AssayPolicy"]),
        .library(name: "AssayYAML", targets: ["AssayYAML"]),
        .library(name: "AssayHTTP", targets: ["AssayHTTP"]),
        // Envoy's external authorization over gRPC.
        .library(name: "AssayExtAuthz", targets: ["AssayExtAuthz"]),
        // Calls to other servers, for plugins that make some.
        .library(name: "AssayHTTPClient", targets: ["AssayHTTPClient"]),
        .library(name: "AssayMetrics", targets: ["AssayMetrics"]),
        // Reloading of policies and keys while a service runs.
        .library(name: "AssayReload", targets: ["AssayReload"]),
        .library(name: "AssayAppAttest", targets: ["AssayAppAttest"]),
        .library(name: "AssayCustomBackend", targets: ["AssayCustomBackend"]),
        .library(name: "AssayCustomToken", targets: ["AssayCustomToken"]),
        .library(name: "AssayDeviceCheck", targets: ["AssayDeviceCheck"]),
        .library(name: "AssayDebug", targets: ["AssayDebug"]),
        .library(name: "AssayFleetEngine", targets: ["AssayFleetEngine"]),
        .library(name: "AssayOAuthClient", targets: ["AssayOAuthClient"]),
        .library(name: "AssaySQLite", targets: ["AssaySQLite"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.0"),
        .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
        // Without the trait that brings all of Foundation.
        .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0", traits: []),
        .package(url: "https://github.com/grpc/grpc-swift-2", from: "2.4.3"),
        .package(url: "https://github.com/grpc/grpc-swift-nio-transport", from: "2.9.2"),
        .package(url: "https://github.com/grpc/grpc-swift-protobuf", from: "2.4.1"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        // System libraries.
        .systemLibrary(name: "CLibCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CLibCBOR", pkgConfig: "libcbor", providers: [.apt(["libcbor-dev"])]),
        .systemLibrary(name: "CLibSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CProcess"),
        .systemLibrary(name: "CLibYAML", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),

        // The kernel.
        .target(
            name: "AssayKit",
            dependencies: [.product(name: "Logging", package: "swift-log")],
            swiftSettings: settings),
        .target(name: "AssayCrypto", dependencies: ["AssayKit", "CLibCrypto"], swiftSettings: settings),
        .target(name: "AssayCBOR", dependencies: ["CLibCBOR"], swiftSettings: settings),
        .target(name: "AssayYAML", dependencies: ["AssayKit", "CLibYAML"], swiftSettings: settings),
        .target(name: "AssayPolicy", dependencies: ["AssayKit", "AssayYAML"], swiftSettings: settings),
        .target(
            name: "AssayEngine",
            dependencies: [
                "AssayKit", "AssayCrypto", "AssayYAML", "AssayPolicy", "AssayJWT", "AssayVerifier",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),

        .target(
            name: "AssayVerifier",
            dependencies: ["AssayKit", "AssayCrypto", "AssayJWT", .product(name: "Logging", package: "swift-log")],
            swiftSettings: settings),
        .target(
            name: "AssayJWT",
            dependencies: ["AssayKit", "AssayCrypto", .product(name: "Logging", package: "swift-log")],
            swiftSettings: settings),

        .target(
            name: "AssayHummingbird",
            dependencies: [
                "AssayKit", "AssayVerifier",
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),

        // Around the kernel.
        .target(name: "AssayMetrics", dependencies: ["AssayKit"], swiftSettings: settings),
        .target(
            name: "AssayHTTP",
            dependencies: [
                "AssayKit", "AssayCrypto",
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHPACK", package: "swift-nio-http2"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTP2", package: "swift-nio-http2"),
                .product(name: "NIOHTTPCompression", package: "swift-nio-extras"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "NIOTLS", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: settings),
        .target(
            name: "AssayExtAuthz",
            dependencies: [
                "AssayKit", "AssayHTTP",
                .product(name: "GRPCCore", package: "grpc-swift-2"),
                // What both transports of that package have in common. The listener is our own, and so the one for NIO
                // and the libraries for certificates that it brings are not needed.
                .product(name: "GRPCNIOTransportHTTP2TransportServices", package: "grpc-swift-nio-transport"),
                .product(name: "GRPCProtobuf", package: "grpc-swift-protobuf"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHPACK", package: "swift-nio-http2"),
                .product(name: "NIOHTTP2", package: "swift-nio-http2"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "SwiftProtobuf", package: "swift-protobuf"),
            ],
            exclude: ["authorization", "core", "health", "status", "type"].map { "Protocol/\($0).proto" },
            swiftSettings: settings),
        .target(
            name: "AssayHTTPClient",
            dependencies: [
                "AssayKit",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: settings),
        .target(
            name: "AssayReload",
            dependencies: [
                "AssayKit", "AssayYAML", "AssayPolicy", "AssayEngine",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: settings),
        .target(name: "AssayTesting", dependencies: ["AssayKit", "AssayCrypto", "AssayCBOR"], swiftSettings: settings),
        .target(
            name: "AssayTestingHTTP",
            dependencies: [
                "AssayKit", "AssayTesting",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            swiftSettings: settings),

        // Plugins: each depends on the kit, and on crypto or CBOR where it needs them; never on the engine. What plugins
        // have in common lies under Plugins/Shared.
        .target(
            name: "AssayAppleServices",
            dependencies: ["AssayKit", "AssayCrypto"],
            path: "Plugins/Shared/AppleServices",
            swiftSettings: settings),
        .target(
            name: "AssayAppAttest",
            dependencies: [
                "AssayKit", "AssayCrypto", "AssayCBOR", "AssayAppleServices",
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Plugins/Providers/AppAttest",
            swiftSettings: settings),
        .target(
            name: "AssayDebug",
            dependencies: ["AssayKit", "AssayCrypto"],
            path: "Plugins/Providers/Debug",
            swiftSettings: settings),
        .target(
            name: "AssayDeviceCheck",
            dependencies: [
                "AssayKit", "AssayCrypto", "AssayAppleServices", .product(name: "Logging", package: "swift-log"),
            ],
            path: "Plugins/Providers/DeviceCheck",
            swiftSettings: settings),
        .target(
            name: "AssayCustomToken",
            dependencies: ["AssayKit", "AssayCrypto", "AssayJWT"],
            path: "Plugins/Providers/CustomToken",
            swiftSettings: settings),
        .target(
            name: "AssayCustomBackend",
            dependencies: ["AssayKit"],
            path: "Plugins/Consumers/CustomBackend",
            swiftSettings: settings),
        .target(
            name: "AssayFleetEngine",
            dependencies: ["AssayKit", "AssayCrypto"],
            path: "Plugins/Consumers/FleetEngine",
            swiftSettings: settings),
        .target(
            name: "AssayOAuthClient",
            dependencies: ["AssayKit", "AssayCrypto", "AssayJWT"],
            path: "Plugins/Consumers/OAuthClient",
            swiftSettings: settings),
        .target(
            name: "AssaySQLite",
            dependencies: ["AssayKit", "CLibSQLite"],
            path: "Plugins/Stores/SQLite",
            swiftSettings: settings),

        // The command: the one place where plugins are listed.
        .executableTarget(
            name: "assay",
            dependencies: [
                "AssayKit", "AssayCrypto", "AssayYAML", "AssayPolicy", "AssayEngine", "AssayExtAuthz", "AssayHTTP",
                "AssayHTTPClient", "AssayMetrics", "AssayReload", "AssayTesting", "AssayTestingHTTP", "AssayVerifier",
                "AssayCBOR", "AssayAppAttest", "AssayCustomBackend", "AssayCustomToken", "AssayDebug",
                "AssayDeviceCheck", "AssayFleetEngine",
                "AssayOAuthClient",
                "AssaySQLite", "CProcess",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            swiftSettings: settings),

        // What is fuzzed. The fuzzers are built by the package in Tests/Fuzz, which has these files in common with this.
        .target(
            name: "FuzzEntries",
            dependencies: [
                "AssayKit", "AssayCrypto", "AssayCBOR", "AssayYAML", "AssayPolicy", "AssayEngine", "AssayExtAuthz",
                "AssayHTTP", "AssayJWT", "AssayTesting", "AssayVerifier", "AssayAppAttest", "AssayCustomBackend",
                "AssayDebug",
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Tests/Fuzz/Sources/Fuzz/Entries",
            swiftSettings: settings),

        // Tests.
        .target(
            name: "AssayTestSupport",
            dependencies: [
                "AssayKit", "AssayCrypto", "AssayTesting", .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            path: "Tests/AssayTestSupport",
            swiftSettings: settings),
        // The rule that text from outside is compared by its bytes, checked in the compiled modules, and code that breaks it.
        .target(
            name: "TextRuleSamples", dependencies: ["AssayKit"], path: "Tests/TextRuleSamples", swiftSettings: settings),
        .testTarget(name: "TextRulesTests", dependencies: ["TextRuleSamples"], swiftSettings: settings),
        .testTarget(
            name: "AssayKitTests", dependencies: ["AssayKit", "AssayTestSupport", "AssayTesting"],
            swiftSettings: settings),
        .testTarget(
            name: "AssayCryptoTests", dependencies: ["AssayKit", "AssayCrypto", "AssayTestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "AssayVerifierTests",
            dependencies: [
                "AssayKit", "AssayCrypto", "AssayJWT", "AssayTesting", "AssayTestSupport", "AssayVerifier",
                "FuzzEntries",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "AssayHummingbirdTests",
            dependencies: [
                "AssayCrypto", "AssayHummingbird", "AssayKit", "AssayTesting", "AssayTestSupport", "AssayVerifier",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdTesting", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "AssayJWTTests",
            dependencies: [
                "AssayKit", "AssayCrypto", "AssayJWT", "AssayTesting", "AssayTestSupport",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "CustomTokenTests",
            dependencies: [
                "AssayKit", "AssayCrypto", "AssayJWT", "AssayEngine", "AssayPolicy", "AssayTesting", "AssayYAML",
                "AssayCustomToken", .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "CustomBackendTests",
            dependencies: [
                "AssayAppAttest", "AssayKit", "AssayCrypto", "AssayEngine", "AssayPolicy", "AssayTesting", "AssayYAML",
                "AssayCustomBackend", "AssayDebug", .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "DeviceCheckTests",
            dependencies: [
                "AssayCrypto", "AssayEngine", "AssayHTTPClient", "AssayKit", "AssayPolicy", "AssayTestSupport",
                "AssayTesting", "AssayTestingHTTP", "AssayDeviceCheck", .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "FleetEngineTests",
            dependencies: [
                "AssayKit", "AssayCrypto", "AssayEngine", "AssayPolicy", "AssayTesting", "AssayTestSupport",
                "AssayYAML", "AssayDebug", "AssayFleetEngine",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .testTarget(name: "AssayCBORTests", dependencies: ["AssayCBOR", "AssayTestSupport"], swiftSettings: settings),
        .testTarget(name: "AssayYAMLTests", dependencies: ["AssayKit", "AssayYAML"], swiftSettings: settings),
        .testTarget(
            name: "AssayPolicyTests", dependencies: ["AssayKit", "AssayYAML", "AssayPolicy"], swiftSettings: settings),
        .testTarget(
            name: "AssayEngineTests",
            dependencies: [
                "AssayKit", "AssayCrypto", "AssayYAML", "AssayPolicy", "AssayEngine", "AssayTesting", "AssayAppAttest",
                "AssayDebug", "FuzzEntries", "AssayTestSupport", "AssayHTTPClient", "AssayTestingHTTP", "AssayVerifier",
                "AssaySQLite", .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "AssayMetricsTests",
            dependencies: ["AssayKit", "AssayEngine", "AssayMetrics", "AssayAppAttest", "AssayDebug"],
            swiftSettings: settings),
        .testTarget(
            name: "AssayHTTPTests",
            dependencies: [
                "AssayKit", "AssayCrypto", "AssayHTTP", "AssayTesting", "AssayTestSupport",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHPACK", package: "swift-nio-http2"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPCompression", package: "swift-nio-extras"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "AssayExtAuthzTests",
            dependencies: [
                "AssayKit", "AssayExtAuthz", "AssayHTTP", "AssayTesting", "AssayTestSupport",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHPACK", package: "swift-nio-http2"),
                .product(name: "NIOHTTP2", package: "swift-nio-http2"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "SwiftProtobuf", package: "swift-protobuf"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "AssayHTTPClientTests",
            dependencies: [
                "AssayKit", "AssayCrypto", "AssayHTTPClient", "AssayTesting", "AssayTestingHTTP",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "AppleServicesTests",
            dependencies: ["AssayKit", "AssayCrypto", "AssayTesting", "AssayAppleServices"],
            swiftSettings: settings),
        .testTarget(
            name: "AppAttestTests",
            dependencies: [
                "AssayKit", "AssayCrypto", "AssayCBOR", "AssayTesting", "AssayTestSupport", "AssayAppAttest",
                "AssayAppleServices", "AssayEngine",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "AssayCommandTests",
            dependencies: [
                "AssayKit", "AssayCrypto", "AssayYAML", "AssayPolicy", "AssayEngine", "AssayTesting",
                "AssayTestSupport", "assay",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "AssayReloadTests",
            dependencies: [
                "AssayKit", "AssayPolicy", "AssayEngine", "AssayReload", "AssayTesting", "AssayDebug",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "ReadmeTests",
            dependencies: [
                "AssayAppAttest", "AssayCrypto", "AssayDebug", "AssayEngine", "AssayHummingbird", "AssayKit",
                "AssayPolicy",
                "AssayTestSupport", "AssayVerifier",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdTesting", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "OAuthClientTests",
            dependencies: [
                "AssayCrypto", "AssayEngine", "AssayJWT", "AssayKit", "AssayPolicy", "AssayTesting", "AssayYAML",
                "AssayDebug",
                "AssayOAuthClient", .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "ConsumptionTests",
            dependencies: [
                "AssayCrypto", "AssayEngine", "AssayKit", "AssayPolicy", "AssayTesting", "AssayCustomBackend",
                "AssayFleetEngine", "AssayOAuthClient", .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "SQLiteTests",
            dependencies: [
                "AssayKit", "AssayTesting", "AssaySQLite",
            ],
            swiftSettings: settings),
    ]
)
