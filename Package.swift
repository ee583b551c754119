// swift-tools-version: 6.2

import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

// What the package's traits leave out of a build.
let simulator: TargetDependencyCondition? = .when(traits: ["Simulator"])
let extAuthz: TargetDependencyCondition? = .when(traits: ["ExtAuthz"])
let processes: TargetDependencyCondition? = .when(traits: ["Processes"])

// The trait of each plugin that comes with Assay, and what it adds to `AssayStandard`.
let plugins: KeyValuePairs = [
    "AppAttest": "The provider `app_attest`, and `assay verify app-attest`.",
    "CustomBackend": "The consumer `custom_backend`.",
    "CustomToken": "The provider `custom`.",
    "DebugTokens": "The provider `debug`, and `assay debug-token`.",
    "DeviceCheck": "The provider `device_check`.",
    "FleetEngine": "The consumer `fleet_engine`.",
    "OAuthClient": "The consumer `oauth_client`.",
    "Postgres": "The store `postgres`.",
    "Redis": "The stores `redis` and `rediss`.",
    "SQLite": "The store `sqlite`.",
    "Webhook": "The sink `webhook`, which sends decisions to a server.",
]

// Which traits need a package, any of them. Without it nothing of the package is resolved; see the end of this file.
let traitsOfPackage: [String: Set<String>] = [
    "async-http-client": ["ClientHTTP", "Server"], "grpc-swift-2": ["ClientGRPC", "ExtAuthz"],
    "grpc-swift-nio-transport": ["ExtAuthz"],
    "grpc-swift-protobuf": ["ExtAuthz"], "hdrhistogram-swift": ["Simulator"], "hummingbird": ["Hummingbird"],
    "swift-argument-parser": ["Server"],
    "swift-http-types": ["Hummingbird"], "swift-metrics": ["Server"], "swift-nio": ["ClientHTTP", "Server"],
    "swift-nio-extras": ["Server"],
    "swift-nio-http2": ["Server"], "swift-nio-ssl": ["ClientHTTP", "Server"],
    "swift-protobuf": ["ExtAuthz", "Processes"], "swift-service-lifecycle": ["ClientHTTP", "Server"],
]

/// A command of `swift package` that writes a package.
func newPlugin(_ name: String, verb: String, _ description: String) -> Target {
    .plugin(
        name: name,
        capability: .command(
            intent: .custom(verb: verb, description: description),
            permissions: [.writeToPackageDirectory(reason: "It writes the new package into a folder of its own.")]),
        dependencies: ["new-plugin"], path: "Sources/NewPlugin/Commands/\(name)")
}

let package = Package(
    name: "assay",
    // Linux needs no entry. On macOS, `addImmediateTask` begins with this version.
    // The client library alone is made for iOS too.
    platforms: [.iOS(.v15), .macOS(.v26)],
    products: [
        .executable(name: "assay", targets: ["assay"]),
        // The command over any list of plugins, and the plugins that come with it.
        .library(name: "AssayCommand", targets: ["AssayCommand"]),
        .library(name: "AssayStandard", targets: ["AssayStandard"]),
        // What plugins are written to, and the libraries that they may use.
        .library(name: "AssayCore", targets: ["AssayCore"]),
        .library(name: "AssayKit", targets: ["AssayKit"]),
        // What stores are written to.
        .library(name: "AssayState", targets: ["AssayState"]),
        // What transports and embedders need in addition to the engine.
        .library(name: "AssayHosting", targets: ["AssayHosting"]),
        .library(name: "AssayCrypto", targets: ["AssayCrypto"]),
        .library(name: "AssayX509", targets: ["AssayX509"]),
        .library(name: "AssayCBOR", targets: ["AssayCBOR"]),
        .library(name: "AssayTesting", targets: ["AssayTesting"]),
        // The same with sockets: simulated servers that are called over HTTP.
        .library(name: "AssayTestingHTTP", targets: ["AssayTestingHTTP"]),
        // JWTs of other issuers, for plugins that trust some.
        .library(name: "AssayJWT", targets: ["AssayJWT"]),
        // Questions to an operator's backend, for plugins that cannot know what only the operator knows.
        .library(name: "AssayCallback", targets: ["AssayCallback"]),
        // The audit file: its chain, its index, and look-ups in it.
        .library(name: "AssayAudit", targets: ["AssayAudit"]),
        // The kernel for embedders, its policies, and the errors in them.
        .library(name: "AssayEngine", targets: ["AssayEngine"]),
        // What tools say of policies: tests, explanations, comparisons, replays.
        .library(name: "AssayPolicyTools", targets: ["AssayPolicyTools"]),
        // Plugins in processes of their own.
        .library(name: "AssayProcesses", targets: ["AssayProcesses"]),
        // Verification of tokens, for backends.
        .library(name: "AssayRequestProof", targets: ["AssayRequestProof"]),
        .library(name: "AssayVerifier", targets: ["AssayVerifier"]),
        .library(name: "AssayHummingbird", targets: ["AssayHummingbird"]),
        // Tokens in an app, with no other package; and the same over async-http-client, where there is no URLSession.
        .library(name: "AssayClient", targets: ["AssayClient"]),
        .library(name: "AssayClientHTTP", targets: ["AssayClientHTTP"]),
        .library(name: "AssayClientGRPC", targets: ["AssayClientGRPC"]),
        .library(name: "AssayClientTesting", targets: ["AssayClientTesting"]),
        // Keys of OAuth clients, where there is no Secure Enclave.
        .library(name: "AssayClientCrypto", targets: ["AssayClientCrypto"]),
        .library(name: "AssayPolicy", targets: ["AssayPolicy"]),
        .library(name: "AssayYAML", targets: ["AssayYAML"]),
        // The methods over HTTP: the gateway for any server, a server of its own, and what listeners share.
        .library(name: "AssayHTTP", targets: ["AssayHTTP"]),
        .library(name: "AssayHTTPServer", targets: ["AssayHTTPServer"]),
        .library(name: "AssayTransport", targets: ["AssayTransport"]),
        // Envoy's external authorization over gRPC.
        .library(name: "AssayExtAuthz", targets: ["AssayExtAuthz"]),
        // Calls to other servers, for plugins that make some.
        .library(name: "AssayHTTPClient", targets: ["AssayHTTPClient"]),
        .library(name: "AssayMetrics", targets: ["AssayMetrics"]),
        // Reloading of policies and keys while a service runs.
        .library(name: "AssayReload", targets: ["AssayReload"]),
        // What Apple knows an app by, and calls to Apple, for providers of its platforms.
        .library(name: "AssayApple", targets: ["AssayApple"]),
        .library(name: "AssayAppAttest", targets: ["AssayAppAttest"]),
        .library(name: "AssayCustomBackend", targets: ["AssayCustomBackend"]),
        .library(name: "AssayCustomToken", targets: ["AssayCustomToken"]),
        .library(name: "AssayDeviceCheck", targets: ["AssayDeviceCheck"]),
        .library(name: "AssayDebug", targets: ["AssayDebug"]),
        .library(name: "AssayFleetEngine", targets: ["AssayFleetEngine"]),
        .library(name: "AssayOAuthClient", targets: ["AssayOAuthClient"]),
        .library(name: "AssayPostgres", targets: ["AssayPostgres"]),
        .library(name: "AssayRedis", targets: ["AssayRedis"]),
        .library(name: "AssaySQLite", targets: ["AssaySQLite"]),
        .library(name: "AssayWebhook", targets: ["AssayWebhook"]),
        // `swift package new-provider NAME`, `new-consumer` and `new-store` write packages with plugins.
        .plugin(name: "NewProvider", targets: ["NewProvider"]),
        .plugin(name: "NewConsumer", targets: ["NewConsumer"]),
        .plugin(name: "NewStore", targets: ["NewStore"]),
    ],
    traits: [
        .default(enabledTraits: ["ExtAuthz", "Hummingbird", "Processes", "Simulator", "Standard"]),
        .trait(
            name: "Server",
            description: "The command over any list of plugins, HTTP in and out, and metrics: what needs SwiftNIO."),
        .trait(
            name: "ExtAuthz", description: "The command answers Envoy over gRPC: `serve --ext-authz-listen`.",
            enabledTraits: ["Server"]),
        .trait(
            name: "Processes", description: "The command takes plugins in processes of their own: `plugins.yaml`.",
            enabledTraits: ["Server"]),
        .trait(name: "ClientHTTP", description: "The client library's transport over async-http-client."),
        .trait(name: "ClientGRPC", description: "The client library's interceptor for grpc-swift."),
        .trait(name: "Hummingbird", description: "The middleware that verifies tokens in a Hummingbird server."),
        .trait(
            name: "Standard", description: "All plugins that come with Assay.",
            enabledTraits: Set(plugins.map(\.key) + ["Server"])),
        .trait(
            name: "Simulator",
            description: "The command has `demo`, `fake-apple` and `load`, and with them simulated devices.",
            enabledTraits: ["Standard"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.0"),
        .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
        // Without the trait that brings all of Foundation.
        .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0", traits: []),
        .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
        .package(url: "https://github.com/grpc/grpc-swift-2", from: "2.4.3"),
        .package(url: "https://github.com/grpc/grpc-swift-nio-transport", from: "2.9.2"),
        .package(url: "https://github.com/grpc/grpc-swift-protobuf", from: "2.4.1"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        // System libraries.
        .systemLibrary(
            name: "CLibCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]),
        .systemLibrary(name: "CLibCBOR", pkgConfig: "libcbor", providers: [.apt(["libcbor-dev"]), .brew(["libcbor"])]),
        // Without pkg-config, whose flags SwiftPM does not accept.
        .systemLibrary(name: "CLibHiredis", providers: [.apt(["libhiredis-dev"]), .brew(["hiredis"])]),
        .systemLibrary(
            name: "CLibSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
        .systemLibrary(name: "CLibPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
        .systemLibrary(name: "CProcess"),
        // Declarations of PKCS #11, whose modules are loaded at run time.
        .systemLibrary(name: "CPKCS11"),
        .systemLibrary(name: "CLibZ", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
        .systemLibrary(
            name: "CLibYAML", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"]), .brew(["libyaml"])]),

        // The kernel.
        .target(
            name: "AssayCore",
            dependencies: [.product(name: "Logging", package: "swift-log")],
            swiftSettings: settings),
        .target(
            name: "AssayState",
            dependencies: ["AssayCore", .product(name: "Logging", package: "swift-log")],
            swiftSettings: settings),
        .target(
            name: "AssayKit",
            dependencies: ["AssayCore", "AssayState", .product(name: "Logging", package: "swift-log")],
            swiftSettings: settings),
        .target(
            name: "AssayHosting",
            dependencies: [
                "AssayCore", "AssayKit", "AssayState",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .target(
            name: "AssayCrypto",
            dependencies: [
                "AssayCore", "CLibCrypto",
            ], swiftSettings: settings),
        .target(
            name: "AssayX509",
            dependencies: [
                "AssayCore", "AssayCrypto",
            ], swiftSettings: settings),
        .target(name: "AssayCBOR", dependencies: ["CLibCBOR"], swiftSettings: settings),
        .target(
            name: "AssayYAML",
            dependencies: [
                "AssayCore", "CLibYAML",
            ], swiftSettings: settings),
        .target(
            name: "AssayPolicy",
            dependencies: [
                "AssayCore", "AssayCrypto", "AssayKit", "AssayYAML",
            ], swiftSettings: settings),
        .target(
            name: "AssayAudit",
            dependencies: ["AssayCore", "AssayCrypto", "AssayHosting", "CLibZ"],
            swiftSettings: settings),
        .target(
            name: "AssayEngine",
            dependencies: [
                "AssayAudit", "AssayCore", "AssayCrypto", "AssayHosting", "AssayJWT", "AssayKit", "AssayPolicy",
                "AssayState", "AssayVerifier", "AssayYAML", "CPKCS11",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),

        // What tools say of policies: tests, explanations, comparisons, replays.
        .target(
            name: "AssayPolicyTools",
            dependencies: [
                "AssayAudit", "AssayCore", "AssayCrypto", "AssayEngine", "AssayHosting", "AssayJWT", "AssayKit",
                "AssayPolicy", "AssayState", "AssayVerifier", "AssayYAML",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .target(
            name: "AssayRequestProof", dependencies: ["AssayCBOR", "AssayCore", "AssayCrypto", "AssayVerifier"],
            swiftSettings: settings),
        .target(
            name: "AssayVerifier",
            dependencies: [
                "AssayCore", "AssayCrypto", "AssayJWT",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .target(
            name: "AssayCallback",
            dependencies: ["AssayCore", "AssayKit"],
            swiftSettings: settings),
        .target(
            name: "AssayJWT",
            dependencies: [
                "AssayCore", "AssayCrypto", "AssayKit",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),

        .target(
            name: "AssayHummingbird",
            dependencies: [
                "AssayCore", "AssayVerifier",
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),

        // The client side.
        .target(name: "AssayClient", swiftSettings: settings),
        .target(
            name: "AssayClientHTTP",
            dependencies: ["AssayClient", "AssayCore", "AssayHTTPClient"], swiftSettings: settings),
        .target(name: "AssayClientCrypto", dependencies: ["AssayClient", "AssayCrypto"], swiftSettings: settings),
        .target(
            name: "AssayClientGRPC",
            dependencies: ["AssayClient", .product(name: "GRPCCore", package: "grpc-swift-2")],
            swiftSettings: settings),
        .target(
            name: "AssayClientTesting",
            dependencies: ["AssayClient", "AssayCore", "AssayTesting"], swiftSettings: settings),

        // Around the kernel.
        .target(
            name: "AssayMetrics",
            dependencies: [
                "AssayCore", "AssayHosting", "AssayKit",
                .product(name: "CoreMetrics", package: "swift-metrics"),
            ], swiftSettings: settings),
        .target(
            name: "AssayHTTP",
            dependencies: [
                "AssayCore", "AssayCrypto", "AssayHosting", "AssayKit", "CLibZ",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .target(
            name: "AssayTransport",
            dependencies: [
                "AssayCore", "AssayCrypto",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            swiftSettings: settings),
        .target(
            name: "AssayHTTPServer",
            dependencies: [
                "AssayCore", "AssayHTTP", "AssayHosting", "AssayTransport",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOExtras", package: "swift-nio-extras"),
                .product(name: "NIOHPACK", package: "swift-nio-http2"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTP2", package: "swift-nio-http2"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "NIOTLS", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: settings),
        .target(
            name: "AssayExtAuthz",
            dependencies: [
                "AssayCore", "AssayHosting", "AssayKit", "AssayTransport",
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
                "AssayCore",
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
                "AssayCore", "AssayCrypto", "AssayEngine", "AssayHosting", "AssayPolicy", "AssayYAML",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: settings),
        .target(
            name: "AssayTesting",
            dependencies: [
                "AssayCBOR", "AssayCore", "AssayCrypto", "AssayEngine", "AssayHosting", "AssayKit", "AssayPolicy",
                "AssayPolicyTools",
                "AssayState", "AssayX509", "AssayYAML",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .target(
            name: "AssayTestingHTTP",
            dependencies: [
                "AssayCore", "AssayTesting",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            swiftSettings: settings),

        // Plugins: each depends on the kit, and on crypto, X.509 or CBOR where it needs them; never on the engine. What
        // providers of one platform share is under Plugins/Platforms. They are compiled as outside of this package: only
        // public declarations are visible to them.
        .target(
            name: "AssayApple",
            dependencies: [
                "AssayCore", "AssayCrypto", "AssayKit",
            ],
            path: "Plugins/Platforms/Apple",
            packageAccess: false,
            swiftSettings: settings),
        .target(
            name: "AssayAppAttest",
            dependencies: [
                "AssayApple", "AssayCBOR", "AssayCore", "AssayCrypto", "AssayKit", "AssayState", "AssayX509",
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Plugins/Providers/AppAttest",
            packageAccess: false,
            swiftSettings: settings),
        .target(
            name: "AssayDebug",
            dependencies: [
                "AssayCore", "AssayCrypto", "AssayKit", "AssayState",
            ],
            path: "Plugins/Providers/Debug",
            packageAccess: false,
            swiftSettings: settings),
        .target(
            name: "AssayDeviceCheck",
            dependencies: [
                "AssayApple", "AssayCore", "AssayCrypto", "AssayKit", "AssayState",
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Plugins/Providers/DeviceCheck",
            packageAccess: false,
            swiftSettings: settings),
        .target(
            name: "AssayCustomToken",
            dependencies: [
                "AssayCore", "AssayCrypto", "AssayJWT", "AssayKit",
            ],
            path: "Plugins/Providers/CustomToken",
            packageAccess: false,
            swiftSettings: settings),
        .target(
            name: "AssayCustomBackend",
            dependencies: [
                "AssayCore", "AssayKit", "AssayRequestProof", "AssayState",
            ],
            path: "Plugins/Consumers/CustomBackend",
            packageAccess: false,
            swiftSettings: settings),
        .target(
            name: "AssayFleetEngine",
            dependencies: [
                "AssayCallback", "AssayCore", "AssayCrypto", "AssayKit",
            ],
            path: "Plugins/Consumers/FleetEngine",
            packageAccess: false,
            swiftSettings: settings),
        .target(
            name: "AssayOAuthClient",
            dependencies: [
                "AssayCore", "AssayCrypto", "AssayJWT", "AssayKit", "AssayState",
            ],
            path: "Plugins/Consumers/OAuthClient",
            packageAccess: false,
            swiftSettings: settings),
        .target(
            name: "AssayWebhook",
            dependencies: [
                "AssayCore", "AssayHosting", "AssayState",
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Plugins/Sinks/Webhook",
            packageAccess: false,
            swiftSettings: settings),
        .target(
            name: "AssayPostgres",
            dependencies: [
                "AssayCore", "AssayState", "CLibPQ",
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Plugins/Stores/Postgres",
            packageAccess: false,
            swiftSettings: settings),
        .target(
            name: "AssayRedis",
            dependencies: [
                "AssayCore", "AssayCrypto", "AssayState", "CLibHiredis",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            path: "Plugins/Stores/Redis",
            packageAccess: false,
            swiftSettings: settings),
        .target(
            name: "AssaySQLite",
            dependencies: [
                "AssayCore", "AssayState", "CLibSQLite",
            ],
            path: "Plugins/Stores/SQLite",
            packageAccess: false,
            swiftSettings: settings),

        // Plugins in processes of their own.
        .target(name: "CSpawn"),
        .target(
            name: "AssayProcesses",
            dependencies: [
                "AssayCore", "AssayCrypto", "AssayEngine", "AssayHosting", "AssayKit", "AssayPolicy", "AssayState",
                "AssayYAML", "CSpawn", .target(name: "AssayTesting", condition: simulator),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHPACK", package: "swift-nio-http2"),
                .product(name: "NIOHTTP2", package: "swift-nio-http2"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "SwiftProtobuf", package: "swift-protobuf"),
            ],
            exclude: ["Protocol/plugin.proto"],
            swiftSettings: settings),

        // The command as a library, which knows no plugin.
        .target(
            name: "AssayCommand",
            dependencies: [
                "AssayAudit", "AssayCore", "AssayCrypto", "AssayEngine", "AssayHTTP", "AssayHTTPClient",
                "AssayHTTPServer", "AssayHosting",
                "AssayKit", "AssayMetrics", "AssayPolicy", "AssayPolicyTools", "AssayReload", "AssayState",
                "AssayTransport", "AssayYAML",
                "CProcess", .target(name: "AssayExtAuthz", condition: extAuthz),
                .target(name: "AssayProcesses", condition: processes),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            swiftSettings: settings),
        // The one place where plugins are listed, and the subcommands that come with them.
        .target(
            name: "AssayStandard",
            dependencies: [
                "AssayCBOR", "AssayCommand", "AssayCore", "AssayCrypto", "AssayEngine", "AssayHTTP", "AssayHTTPServer",
                "AssayHosting", "AssayKit", "AssayPolicy", "AssayPolicyTools", "AssayState", "AssayTransport",
                "AssayVerifier",
                "AssayClient", "AssayClientCrypto", "AssayClientHTTP",
                .target(name: "AssayAppAttest", condition: .when(traits: ["AppAttest"])),
                .target(name: "AssayCustomBackend", condition: .when(traits: ["CustomBackend"])),
                .target(name: "AssayCustomToken", condition: .when(traits: ["CustomToken"])),
                .target(name: "AssayDebug", condition: .when(traits: ["DebugTokens"])),
                .target(name: "AssayDeviceCheck", condition: .when(traits: ["DeviceCheck"])),
                .target(name: "AssayFleetEngine", condition: .when(traits: ["FleetEngine"])),
                .target(name: "AssayOAuthClient", condition: .when(traits: ["OAuthClient"])),
                .target(name: "AssayPostgres", condition: .when(traits: ["Postgres"])),
                .target(name: "AssayRedis", condition: .when(traits: ["Redis"])),
                .target(name: "AssaySQLite", condition: .when(traits: ["SQLite"])),
                .target(name: "AssayWebhook", condition: .when(traits: ["Webhook"])),
                .target(name: "AssayApple", condition: simulator),
                .target(name: "AssayClientTesting", condition: simulator),
                .target(name: "AssayTesting", condition: simulator),
                .target(name: "AssayTestingHTTP", condition: simulator),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Histogram", package: "hdrhistogram-swift", condition: simulator),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "assay", dependencies: ["AssayCommand", "AssayCore", "AssayStandard"], swiftSettings: settings),

        // Packages with new plugins are copies of the templates that lie beside the tool. `swift package` runs it.
        .executableTarget(name: "new-plugin", path: "Sources/NewPlugin/Tool", swiftSettings: settings),
        newPlugin("NewProvider", verb: "new-provider", "Write a package with a new provider of evidence."),
        newPlugin("NewConsumer", verb: "new-consumer", "Write a package with a new consumer of tokens."),
        newPlugin("NewStore", verb: "new-store", "Write a package with a new state store."),

        // A plugin in a process of its own, for tests and benchmarks.
        .executableTarget(
            name: "process-plugin",
            dependencies: [
                "AssayCrypto", .target(name: "AssayProcesses", condition: processes),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "SwiftProtobuf", package: "swift-protobuf"),
            ],
            path: "Tests/ProcessPlugin", swiftSettings: settings),
        // What is fuzzed. The fuzzers are built by the package in Tests/Fuzz, which has these files in common with this.
        .target(
            name: "FuzzEntries",
            dependencies: [
                "AssayAppAttest", "AssayCBOR", "AssayCore", "AssayCrypto", "AssayCustomBackend", "AssayDebug",
                "AssayEngine", "AssayExtAuthz", "AssayHTTPServer", "AssayHosting", "AssayJWT", "AssayKit",
                "AssayPolicy", "AssayRequestProof", "AssayState", "AssayTesting", "AssayTransport", "AssayVerifier",
                "AssayX509",
                "AssayYAML",
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Tests/Fuzz/Sources/Fuzz/Entries",
            swiftSettings: settings),

        // Tests.
        .target(
            name: "AssayTestSupport",
            dependencies: [
                "AssayCore", "AssayCrypto", "AssayHosting", "AssayKit", "AssayState", "AssayTesting",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPCompression", package: "swift-nio-extras"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            path: "Tests/AssayTestSupport",
            swiftSettings: settings),
        // The rule that text from outside is compared by its bytes, checked in the compiled modules, and code that breaks it.
        .target(
            name: "TextRuleSamples",
            dependencies: [
                "AssayCore"
            ], path: "Tests/TextRuleSamples", swiftSettings: settings),
        .testTarget(name: "TextRulesTests", dependencies: ["TextRuleSamples"], swiftSettings: settings),
        .testTarget(name: "NewPluginTests", dependencies: ["new-plugin"], swiftSettings: settings),
        .testTarget(
            name: "AssayCoreTests",
            dependencies: [
                "AssayCore", "AssayHosting", "AssayKit", "AssayState", "AssayTestSupport", "AssayTesting",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "AssayHostingTests",
            dependencies: [
                "AssayCore", "AssayHosting", "AssayKit", "AssayTestSupport", "AssayTesting",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "AssayAuditTests",
            dependencies: [
                "AssayAudit", "AssayCore", "AssayEngine", "AssayHosting", "AssayKit", "AssayTestSupport",
                "AssayTesting",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "AssayKitTests",
            dependencies: [
                "AssayCore", "AssayEngine", "AssayKit", "AssayState", "AssayTestSupport", "AssayTesting",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "AssayStateTests",
            dependencies: ["AssayCore", "AssayEngine", "AssayHosting", "AssayKit", "AssayState", "AssayTesting"],
            swiftSettings: settings),
        .testTarget(
            name: "AssayCryptoTests",
            dependencies: [
                "AssayCore", "AssayCrypto", "AssayTestSupport",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "AssayX509Tests",
            dependencies: [
                "AssayCore", "AssayCrypto", "AssayTesting", "AssayX509",
            ], swiftSettings: settings),
        // Written as outside of this package: only public declarations are visible to it.
        .target(
            name: "AndroidKey", dependencies: ["AssayCore", "AssayCrypto", "AssayKit", "AssayX509"],
            path: "Tests/Examples/AndroidKey/Sources/AndroidKey", packageAccess: false, swiftSettings: settings),
        .testTarget(
            name: "AndroidKeyTests",
            dependencies: [
                "AndroidKey", "AssayCore", "AssayCrypto", "AssayEngine", "AssayHosting", "AssayKit", "AssayTesting",
                "AssayX509",
            ],
            path: "Tests/Examples/AndroidKey/Tests/AndroidKeyTests",
            packageAccess: false,
            swiftSettings: settings),
        .testTarget(
            name: "AssayRequestProofTests",
            dependencies: ["AssayCBOR", "AssayCore", "AssayCrypto", "AssayRequestProof", "AssayTesting"],
            exclude: ["Vectors"], swiftSettings: settings),
        .testTarget(
            name: "AssayVerifierTests",
            dependencies: [
                "AssayCore", "AssayCrypto", "AssayHosting", "AssayJWT", "AssayKit", "AssayRequestProof", "AssayState",
                "AssayTestSupport", "AssayTesting", "AssayVerifier", "FuzzEntries",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "AssayHummingbirdTests",
            dependencies: [
                "AssayCore", "AssayCrypto", "AssayHTTP", "AssayHosting", "AssayHummingbird", "AssayKit",
                "AssayTestSupport", "AssayTesting", "AssayVerifier",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdTesting", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "AssayCallbackTests",
            dependencies: [
                "AssayCallback", "AssayCore", "AssayEngine", "AssayKit", "AssayTesting",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "AssayJWTTests",
            dependencies: [
                "AssayCore", "AssayCrypto", "AssayHosting", "AssayJWT", "AssayKit", "AssayState",
                "AssayTestSupport", "AssayTesting",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "CustomTokenTests",
            dependencies: [
                "AssayCore", "AssayCrypto", "AssayCustomToken", "AssayEngine", "AssayHosting", "AssayKit",
                "AssayPolicy", "AssayPolicyTools", "AssayState", "AssayTesting", "AssayYAML",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "CustomBackendTests",
            dependencies: [
                "AssayAppAttest", "AssayCore", "AssayCrypto", "AssayCustomBackend", "AssayDebug", "AssayEngine",
                "AssayHosting", "AssayKit", "AssayPolicy", "AssayState", "AssayTesting", "AssayYAML",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "DeviceCheckTests",
            dependencies: [
                "AssayCore", "AssayCrypto", "AssayDeviceCheck", "AssayEngine", "AssayHTTPClient",
                "AssayHosting", "AssayKit", "AssayPolicy", "AssayState", "AssayTestSupport", "AssayTesting",
                "AssayTestingHTTP",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "FleetEngineTests",
            dependencies: [
                "AssayCore", "AssayCrypto", "AssayDebug", "AssayEngine", "AssayFleetEngine", "AssayHosting",
                "AssayKit", "AssayPolicy", "AssayState", "AssayTestSupport", "AssayTesting", "AssayYAML",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "AssayCBORTests",
            dependencies: [
                "AssayCBOR", "AssayCore", "AssayTestSupport",
            ], swiftSettings: settings),
        .testTarget(
            name: "AssayYAMLTests",
            dependencies: [
                "AssayCore", "AssayYAML",
            ], swiftSettings: settings),
        .testTarget(
            name: "AssayPolicyTests",
            dependencies: [
                "AssayCore", "AssayCrypto", "AssayHosting", "AssayKit", "AssayPolicy", "AssayState", "AssayYAML",
            ], swiftSettings: settings),
        .testTarget(
            name: "AssayEngineTests",
            dependencies: [
                "AssayAppAttest", "AssayCore", "AssayCrypto", "AssayDebug", "AssayEngine", "AssayHTTPClient",
                "AssayHosting", "AssayKit", "AssayPolicy", "AssayPolicyTools", "AssaySQLite", "AssayState",
                "AssayTestSupport",
                "AssayTesting", "AssayTestingHTTP", "AssayVerifier", "AssayYAML", "FuzzEntries",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "AssayProcessesTests",
            dependencies: [
                "AssayCore", "AssayCrypto", "AssayEngine", "AssayHosting", "AssayKit", "AssayPolicy", "AssayProcesses",
                "AssayState",
                "AssayTestSupport", "AssayTesting", "AssayYAML", "process-plugin",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "SwiftProtobuf", package: "swift-protobuf"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "DebugTests",
            dependencies: [
                "AssayCore", "AssayCrypto", "AssayDebug", "AssayEngine", "AssayHosting", "AssayKit",
                "AssayPolicy", "AssayState", "AssayTesting", "AssayYAML",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "AssayTestingTests",
            dependencies: [
                "AssayAppAttest", "AssayCore", "AssayCrypto", "AssayEngine", "AssayHosting", "AssayKit",
                "AssayState", "AssayTestSupport", "AssayTesting", "AssayX509",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "AssayMetricsTests",
            dependencies: [
                "AssayAppAttest", "AssayCore", "AssayDebug", "AssayEngine", "AssayHosting", "AssayKit",
                "AssayMetrics", "AssayPolicy", "AssayState",
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "AssayHTTPTests",
            dependencies: [
                "AssayCore", "AssayHTTP", "AssayHosting", "AssayKit", "AssayState", "AssayTestSupport",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "AssayTransportTests",
            dependencies: [
                "AssayCore", "AssayHosting", "AssayKit", "AssayState", "AssayTestSupport", "AssayTesting",
                "AssayTransport",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "AssayHTTPServerTests",
            dependencies: [
                "AssayCore", "AssayDebug", "AssayEngine", "AssayHTTP", "AssayHTTPServer", "AssayHosting", "AssayKit",
                "AssayMetrics", "AssayPolicy", "AssayState", "AssayTestSupport", "AssayTesting", "AssayTransport",
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHPACK", package: "swift-nio-http2"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "AssayExtAuthzTests",
            dependencies: [
                "AssayCore", "AssayExtAuthz", "AssayHosting", "AssayKit", "AssayState", "AssayTestSupport",
                "AssayTesting", "AssayTransport",
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
                "AssayCore", "AssayCrypto", "AssayHTTPClient", "AssayHosting", "AssayKit", "AssayTestSupport",
                "AssayTesting", "AssayTestingHTTP",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "AppleTests",
            dependencies: [
                "AssayApple", "AssayCore", "AssayCrypto", "AssayPolicy", "AssayTesting", "AssayYAML",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "AppAttestTests",
            dependencies: [
                "AssayAppAttest", "AssayApple", "AssayCBOR", "AssayCore", "AssayCrypto", "AssayEngine",
                "AssayHTTPClient", "AssayHosting", "AssayKit", "AssayPolicy", "AssaySQLite", "AssayState",
                "AssayTestSupport", "AssayTesting", "AssayTestingHTTP", "AssayVerifier", "AssayX509",
                "AssayYAML",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "AssayCommandTests",
            dependencies: [
                "AssayCore", "AssayCrypto", "AssayEngine", "AssayHosting", "AssayKit", "AssayMetrics",
                "AssayPolicy", "AssayPolicyTools", "AssayState", "AssayTestSupport", "AssayTesting", "AssayYAML",
                "AssayCommand",
                "AssayHTTP", "AssayHTTPClient", "AssayHTTPServer", "AssayStandard", "AssayTestingHTTP",
                "AssayTransport",
                "assay", "till-server",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "AssayStandardTests",
            dependencies: [
                "AssayCore", "AssayCrypto", "AssayEngine", "AssayHosting", "AssayKit", "AssayPolicy",
                "AssayPolicyTools", "AssayStandard",
                "AssayState", "AssayTestSupport", "AssayTesting", "AssayYAML",
                "assay",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            swiftSettings: settings),
        // The program of the outside package in Tests/Examples/CustomServer, compiled as outside of this package: only public
        // declarations are visible to it.
        .executableTarget(
            name: "till-server",
            dependencies: [
                "AssayCommand", "AssayCore", "AssayCrypto", "AssayEngine", "AssayKit", "AssayStandard",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Tests/Examples/CustomServer/Sources/till-server",
            packageAccess: false),
        // The same for the program in Tests/Examples/OrdersClient.
        .executableTarget(
            name: "orders-client", dependencies: ["AssayClient", "AssayClientHTTP"],
            path: "Tests/Examples/OrdersClient/Sources/orders-client", packageAccess: false),
        .testTarget(
            name: "AssayClientTests",
            dependencies: [
                "AssayAppAttest", "AssayClient", "AssayClientCrypto", "AssayClientGRPC", "AssayClientHTTP",
                "AssayClientTesting", "AssayCore", "AssayCrypto", "AssayCustomBackend", "AssayDebug", "AssayEngine",
                "AssayFleetEngine", "AssayHTTP", "AssayHTTPClient", "AssayHosting", "AssayJWT", "AssayKit",
                "AssayOAuthClient", "AssayPolicy", "AssayRequestProof", "AssayState", "AssayTestSupport",
                "AssayTesting", "AssayTestingHTTP", "AssayVerifier", "assay", "orders-client",
                .product(name: "GRPCCore", package: "grpc-swift-2"),
                .product(name: "GRPCInProcessTransport", package: "grpc-swift-2"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "AssayReloadTests",
            dependencies: [
                "AssayCore", "AssayCrypto", "AssayDebug", "AssayEngine", "AssayHTTPClient", "AssayHosting", "AssayKit",
                "AssayPolicy", "AssayReload", "AssayState", "AssayTestSupport", "AssayTesting", "AssayTestingHTTP",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "ReadmeTests",
            dependencies: [
                "AssayAppAttest", "AssayClient", "AssayClientCrypto", "AssayClientGRPC", "AssayClientHTTP", "AssayCore",
                "AssayCrypto", "AssayCustomBackend", "AssayDebug", "AssayEngine", "AssayHTTP", "AssayHTTPClient",
                "AssayHTTPServer", "AssayHosting", "AssayHummingbird", "AssayKit", "AssayPolicy", "AssayReload",
                "AssayRequestProof", "AssayState", "AssayTestSupport", "AssayTesting", "AssayTransport",
                "AssayVerifier",
                .product(name: "GRPCCore", package: "grpc-swift-2"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdTesting", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "OAuthClientTests",
            dependencies: [
                "AssayCore", "AssayCrypto", "AssayDebug", "AssayEngine", "AssayHosting", "AssayJWT",
                "AssayKit", "AssayOAuthClient", "AssayPolicy", "AssayState", "AssayTesting", "AssayYAML",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "DifferentialTests",
            dependencies: [
                "AssayCore", "AssayCrypto", "AssayCustomBackend", "AssayEngine", "AssayHosting", "AssayKit",
                "AssayPolicy", "AssayPolicyTools", "AssayState", "AssayTestSupport", "AssayTesting", "AssayYAML",
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Tests/Differential", swiftSettings: settings),
        .testTarget(
            name: "ConsumptionTests",
            dependencies: [
                "AssayAppAttest", "AssayCore", "AssayCrypto", "AssayCustomBackend", "AssayDeviceCheck", "AssayEngine",
                "AssayFleetEngine", "AssayHosting", "AssayKit", "AssayOAuthClient", "AssayPolicy", "AssayState",
                "AssayTesting",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "WebhookTests",
            dependencies: [
                "AssayCore", "AssayEngine", "AssayHTTPClient", "AssayHosting", "AssayKit", "AssayState",
                "AssayTestSupport", "AssayTesting", "AssayTestingHTTP", "AssayWebhook",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "PostgresTests",
            dependencies: [
                "AssayCore", "AssayEngine", "AssayHosting", "AssayKit", "AssayPostgres", "AssayState",
                "AssayTestSupport",
                "AssayTesting",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "RedisTests",
            dependencies: [
                "AssayCore", "AssayRedis", "AssayState", "AssayTestSupport", "AssayTesting",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "SQLiteTests",
            dependencies: [
                "AssayCore", "AssayHosting", "AssayKit", "AssaySQLite", "AssayState", "AssayTestSupport",
                "AssayTesting",
            ],
            swiftSettings: settings),
    ]
)

for (name, description) in plugins {
    package.traits.insert(.trait(name: name, description: description, enabledTraits: ["Server"]))
}

// A package whose every use depends on a trait that is off is not resolved: a plugin that needs the kit alone gets
// swift-log, and nothing else.
for target in package.targets {
    target.dependencies = target.dependencies.map { dependency in
        guard case .productItem(let name, let from?, let aliases, nil) = dependency, let traits = traitsOfPackage[from]
        else { return dependency }
        return .productItem(name: name, package: from, moduleAliases: aliases, condition: .when(traits: traits))
    }
}

// What `swift package generate-documentation` needs, and nobody else has to download: see .github/CONTRIBUTING.md.
if Context.environment["ASSAY_DOCUMENTATION"] != nil {
    package.dependencies.append(.package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.5.0"))
}
