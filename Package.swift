// swift-tools-version: 6.2

import PackageDescription

// Which module the members of C's types belong to, such as `timespec.tv_sec`, depends on which files the compiler works on
// together, and so on the number of processors: that of glibc, or SwiftOverlayShims of the standard library. So files that import
// Glibc import both.
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
    "AndroidKey": "The provider `android_key`.",
    "AppAttest": "The provider `app_attest`, and `assay verify app-attest`.",
    "CustomBackend": "The consumer `custom_backend`.",
    "CustomToken": "The provider `custom`.",
    "DebugTokens": "The provider `debug`, and `assay debug-token`.",
    "DeviceCheck": "The provider `device_check`.",
    "FleetEngine": "The consumer `fleet_engine`.",
    "HCaptcha": "The provider `hcaptcha`.",
    "OAuthClient": "The consumer `oauth_client`.",
    "PlayIntegrity": "The provider `play_integrity`.",
    "Postgres": "The store `postgres`.",
    "PrivacyPass": "The provider `privacy_pass`.",
    "PrivateToken": "The consumer `private_token`.",
    "RecaptchaEnterprise": "The provider `recaptcha_enterprise`.",
    "RecaptchaV3": "The provider `recaptcha_v3`.",
    "Redis": "The stores `redis` and `rediss`.",
    "SQLite": "The store `sqlite`.",
    "Turnstile": "The provider `turnstile`.",
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

extension Target.Dependency {
    static let grpcTransport = product(
        name: "GRPCNIOTransportHTTP2TransportServices", package: "grpc-swift-nio-transport")
    static let argumentParser = product(name: "ArgumentParser", package: "swift-argument-parser")
    static let asyncHTTPClient = product(name: "AsyncHTTPClient", package: "async-http-client")
    static let coreMetrics = product(name: "CoreMetrics", package: "swift-metrics")
    static let grpcCore = product(name: "GRPCCore", package: "grpc-swift-2")
    static let grpcInProcessTransport = product(name: "GRPCInProcessTransport", package: "grpc-swift-2")
    static let grpcProtobuf = product(name: "GRPCProtobuf", package: "grpc-swift-protobuf")
    static let httpTypes = product(name: "HTTPTypes", package: "swift-http-types")
    static let hummingbird = product(name: "Hummingbird", package: "hummingbird")
    static let hummingbirdTesting = product(name: "HummingbirdTesting", package: "hummingbird")
    static let logging = product(name: "Logging", package: "swift-log")
    static let metricsTestKit = product(name: "MetricsTestKit", package: "swift-metrics")
    static let nioConcurrencyHelpers = product(name: "NIOConcurrencyHelpers", package: "swift-nio")
    static let nioCore = product(name: "NIOCore", package: "swift-nio")
    static let nioEmbedded = product(name: "NIOEmbedded", package: "swift-nio")
    static let nioExtras = product(name: "NIOExtras", package: "swift-nio-extras")
    static let nioHPACK = product(name: "NIOHPACK", package: "swift-nio-http2")
    static let nioHTTP1 = product(name: "NIOHTTP1", package: "swift-nio")
    static let nioHTTP2 = product(name: "NIOHTTP2", package: "swift-nio-http2")
    static let nioHTTPCompression = product(name: "NIOHTTPCompression", package: "swift-nio-extras")
    static let nioPosix = product(name: "NIOPosix", package: "swift-nio")
    static let nioSSL = product(name: "NIOSSL", package: "swift-nio-ssl")
    static let nioTLS = product(name: "NIOTLS", package: "swift-nio")
    static let serviceLifecycle = product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
    static let swiftProtobuf = product(name: "SwiftProtobuf", package: "swift-protobuf")
    static let unixSignals = product(name: "UnixSignals", package: "swift-service-lifecycle")
}

/// Tests of modules; they see what these depend on, too.
func tests(_ name: String, of modules: [Target.Dependency], path: String? = nil, exclude: [String] = []) -> Target {
    .testTarget(name: name, dependencies: modules, path: path, exclude: exclude)
}

/// A command of `swift package` that writes a package.
func newPlugin(_ name: String, verb: String, _ description: String) -> Target {
    .plugin(
        name: name,
        capability: .command(
            intent: .custom(verb: verb, description: description),
            permissions: [.writeToPackageDirectory(reason: "It writes the new package into a folder of its own.")]),
        dependencies: ["new-plugin"], path: "Sources/NewPlugin/Commands/\(name)")
}

/// The modules that other packages may use: each is a product.
let libraries = [
    // Plugins are written to these, and may use these.
    "AssayCore", "AssayKit", "AssayCrypto", "AssayCBOR", "AssayVerifier", "AssayHTTPClient", "AssayApple",
    "AssayAndroid", "AssayGoogle", "AssayWeb",
    // What tests them: simulated devices, doubles, conformance suites; the same with sockets.
    "AssayTesting", "AssayTestingHTTP", "AssaySimulation",
    // The kernel for embedders, its policies, and what lies beside it: services, tools, a whole server.
    "AssayPolicy", "AssayYAML", "AssayEngine", "AssayServices", "AssayPolicyTools", "AssayServer",
    "AssayProcesses",
    // The methods over HTTP and over gRPC: a gateway for any server, servers, and what listeners share.
    "AssayHTTP", "AssayHTTPServer", "AssayExtAuthz",
    // The command over any list of plugins, and the plugins that come with it.
    "AssayCommand", "AssayStandard", "AssayAndroidKey", "AssayAppAttest", "AssayCustomBackend", "AssayCustomToken",
    "AssayDebug", "AssayDeviceCheck", "AssayFleetEngine", "AssayHCaptcha", "AssayOAuthClient", "AssayPlayIntegrity",
    "AssayPostgres", "AssayPrivacyPass", "AssayPrivateToken", "AssayRecaptchaEnterprise", "AssayRecaptchaV3",
    "AssayRedis", "AssaySQLite", "AssayTurnstile", "AssayWebhook",
    // Backends that accept tokens.
    "AssayRequestProof", "AssayHummingbird",
    // Apps: tokens with no other package; the same where there is no URLSession, no Secure Enclave; and over gRPC.
    "AssayClient", "AssayClientHTTP", "AssayClientGRPC",
]

let package = Package(
    name: "assay",
    // Linux needs no entry. These are what `AssayClient` needs, so that apps can take it, as
    // Tests/AppleBranches checks; DeviceCheck of watchOS begins with 9. The other modules use the standard library of
    // macOS 26, such as `addImmediateTask`: programs for macOS that take them set the variable.
    platforms: [
        .iOS(.v15), .macOS(Context.environment["ASSAY_SERVER_ON_MACOS"] == nil ? .v12 : .v26), .tvOS(.v15),
        .watchOS(.v9), .visionOS(.v1),
    ],
    products: [
        .executable(name: "assay", targets: ["assay"]),
        // `swift package new-provider NAME`, `new-consumer` and `new-store` write packages with plugins.
        .plugin(name: "NewProvider", targets: ["NewProvider"]),
        .plugin(name: "NewConsumer", targets: ["NewConsumer"]),
        .plugin(name: "NewStore", targets: ["NewStore"]),
    ] + libraries.map { .library(name: $0, targets: [$0]) },
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
        .target(name: "AssayCore", dependencies: [.logging]),
        .target(name: "AssayKit", dependencies: ["AssayCore", .logging]),
        .target(name: "AssayCrypto", dependencies: ["AssayCore", "CLibCrypto"]),
        .target(name: "AssayCBOR", dependencies: ["CLibCBOR"]),
        .target(name: "AssayYAML", dependencies: ["AssayCore", "CLibYAML"]),
        .target(name: "AssayPolicy", dependencies: ["AssayCore", "AssayCrypto", "AssayKit", "AssayYAML"]),
        .target(
            name: "AssayEngine",
            dependencies: [
                "AssayCore", "AssayCrypto", "AssayKit", "AssayPolicy", "AssayVerifier", "AssayYAML", .logging,
            ]),

        // Services beside the kernel: places of keys, records in files, the state store from its opening to its end, maintenance.
        .target(
            name: "AssayServices",
            dependencies: [
                "AssayCore", "AssayCrypto", "AssayEngine", "AssayKit", "AssayPolicy", "AssayYAML", "CLibZ", "CPKCS11",
                .logging,
            ]),

        // What tools say of policies: tests, explanations, comparisons, replays.
        .target(
            name: "AssayPolicyTools",
            dependencies: [
                "AssayCore", "AssayCrypto", "AssayEngine", "AssayKit", "AssayPolicy", "AssayServices", "AssayVerifier",
                "AssayYAML", .logging,
            ]),
        .target(name: "AssayRequestProof", dependencies: ["AssayCBOR", "AssayCore", "AssayCrypto", "AssayVerifier"]),
        .target(name: "AssayVerifier", dependencies: ["AssayCore", "AssayCrypto", "AssayKit", .logging]),

        .target(
            name: "AssayHummingbird", dependencies: ["AssayCore", "AssayVerifier", .httpTypes, .hummingbird, .logging]),

        // The client side.
        .target(name: "AssayClient"),
        .target(name: "AssayClientHTTP", dependencies: ["AssayClient", "AssayCore", "AssayCrypto", "AssayHTTPClient"]),
        .target(name: "AssayClientGRPC", dependencies: ["AssayClient", .grpcCore]),

        // Around the kernel.
        .target(
            name: "AssayHTTP",
            dependencies: ["AssayCore", "AssayCrypto", "AssayKit", "CLibZ", .logging]),
        .target(
            name: "AssayHTTPServer",
            dependencies: [
                "AssayCore", "AssayCrypto", "AssayHTTP", "AssayKit", .logging, .nioCore, .nioEmbedded, .nioExtras,
                .nioHPACK,
                .nioHTTP1, .nioHTTP2, .nioPosix, .nioSSL, .nioTLS, .serviceLifecycle,
            ]),
        .target(
            name: "AssayExtAuthz",
            dependencies: [
                "AssayCore", "AssayKit", "AssayHTTPServer", .grpcCore, .grpcProtobuf, .logging, .nioCore, .nioHPACK,
                .nioHTTP2, .nioPosix, .nioSSL, .serviceLifecycle, .swiftProtobuf,
                // What both transports of that package have in common. The listener is our own, and so the one for NIO and
                // the libraries for certificates that it brings are not needed.
                .grpcTransport,
            ],
            exclude: ["authorization", "core", "health", "status", "type"].map { "Protocol/\($0).proto" }),
        .target(
            name: "AssayHTTPClient",
            dependencies: ["AssayCore", .asyncHTTPClient, .nioCore, .nioHTTP1, .nioPosix, .nioSSL, .serviceLifecycle]),
        // Simulated devices and their authorities, for tests of apps: without the engine.
        .target(name: "AssaySimulation", dependencies: ["AssayCBOR", "AssayClient", "AssayCore", "AssayCrypto"]),
        .target(
            name: "AssayTesting",
            dependencies: [
                "AssayCBOR", "AssayClient", "AssayCore", "AssayCrypto", "AssayEngine", "AssayKit", "AssayPolicy",
                "AssayPolicyTools", "AssayServices", "AssaySimulation", "AssayYAML", .logging,
            ]),
        .target(
            name: "AssayTestingHTTP",
            dependencies: ["AssayCore", "AssayTesting", .nioCore, .nioHTTP1, .nioPosix, .nioSSL]),

        // Plugins: each depends on the kit, and on crypto, X.509 or CBOR where it needs them; never on the engine. What
        // providers of one platform share is under Plugins/Platforms. They are compiled as outside of this package: only
        // public declarations are visible to them.
        .target(
            name: "AssayApple",
            dependencies: ["AssayCore", "AssayCrypto", "AssayKit"],
            path: "Plugins/Platforms/Apple", packageAccess: false),
        .target(
            name: "AssayAndroid",
            dependencies: ["AssayCore", "AssayKit"],
            path: "Plugins/Platforms/Android", packageAccess: false),
        .target(
            name: "AssayGoogle",
            dependencies: ["AssayCore", "AssayCrypto", "AssayKit"],
            path: "Plugins/Platforms/Google", packageAccess: false),
        .target(
            name: "AssayWeb",
            dependencies: ["AssayCore", "AssayCrypto", "AssayKit"],
            path: "Plugins/Platforms/Web", packageAccess: false),
        .target(
            name: "AssayAndroidKey",
            dependencies: [
                "AssayAndroid", "AssayCBOR", "AssayCore", "AssayCrypto", "AssayKit", "AssayRequestProof", .logging,
            ],
            path: "Plugins/Providers/AndroidKey", packageAccess: false),
        .target(
            name: "AssayAppAttest",
            dependencies: ["AssayApple", "AssayCBOR", "AssayCore", "AssayCrypto", "AssayKit", .logging],
            path: "Plugins/Providers/AppAttest", packageAccess: false),
        .target(
            name: "AssayDebug",
            dependencies: ["AssayCore", "AssayCrypto", "AssayKit"],
            path: "Plugins/Providers/Debug", packageAccess: false),
        .target(
            name: "AssayDeviceCheck",
            dependencies: ["AssayApple", "AssayCore", "AssayCrypto", "AssayKit", .logging],
            path: "Plugins/Providers/DeviceCheck", packageAccess: false),
        .target(
            name: "AssayPlayIntegrity",
            dependencies: ["AssayAndroid", "AssayCore", "AssayCrypto", "AssayGoogle", "AssayKit"],
            path: "Plugins/Providers/PlayIntegrity", packageAccess: false),
        .target(
            name: "AssayTurnstile",
            dependencies: ["AssayCore", "AssayKit", "AssayWeb"],
            path: "Plugins/Providers/Turnstile", packageAccess: false),
        .target(
            name: "AssayHCaptcha",
            dependencies: ["AssayCore", "AssayKit", "AssayWeb"],
            path: "Plugins/Providers/HCaptcha", packageAccess: false),
        .target(
            name: "AssayRecaptchaV3",
            dependencies: ["AssayCore", "AssayKit", "AssayWeb"],
            path: "Plugins/Providers/RecaptchaV3", packageAccess: false),
        .target(
            name: "AssayRecaptchaEnterprise",
            dependencies: ["AssayAndroid", "AssayApple", "AssayCore", "AssayGoogle", "AssayKit", "AssayWeb"],
            path: "Plugins/Providers/RecaptchaEnterprise", packageAccess: false),
        .target(
            name: "AssayCustomToken",
            dependencies: ["AssayCore", "AssayCrypto", "AssayKit", "AssayVerifier"],
            path: "Plugins/Providers/CustomToken", packageAccess: false),
        .target(
            name: "AssayPrivacyPass",
            dependencies: ["AssayCore", "AssayCrypto", "AssayKit"],
            path: "Plugins/Providers/PrivacyPass", packageAccess: false),
        .target(
            name: "AssayPrivateToken",
            dependencies: ["AssayCore", "AssayCrypto", "AssayKit"],
            path: "Plugins/Consumers/PrivateToken", packageAccess: false),
        .target(
            name: "AssayCustomBackend",
            dependencies: ["AssayCore", "AssayKit", "AssayRequestProof"],
            path: "Plugins/Consumers/CustomBackend", packageAccess: false),
        .target(
            name: "AssayFleetEngine",
            dependencies: ["AssayCore", "AssayCrypto", "AssayGoogle", "AssayKit"],
            path: "Plugins/Consumers/FleetEngine", packageAccess: false),
        .target(
            name: "AssayOAuthClient",
            dependencies: ["AssayCore", "AssayCrypto", "AssayKit", "AssayVerifier"],
            path: "Plugins/Consumers/OAuthClient", packageAccess: false),
        .target(
            name: "AssayWebhook",
            dependencies: ["AssayCore", "AssayKit", .logging],
            path: "Plugins/Sinks/Webhook", packageAccess: false),
        .target(
            name: "AssayPostgres",
            dependencies: ["AssayCore", "AssayKit", "CLibPQ", .logging],
            path: "Plugins/Stores/Postgres", packageAccess: false),
        .target(
            name: "AssayRedis",
            dependencies: ["AssayCore", "AssayCrypto", "AssayKit", "CLibHiredis", .nioCore, .nioPosix, .nioSSL],
            path: "Plugins/Stores/Redis", packageAccess: false),
        .target(
            name: "AssaySQLite",
            dependencies: ["AssayCore", "AssayKit", "CLibSQLite"],
            path: "Plugins/Stores/SQLite", packageAccess: false),

        // Plugins in processes of their own.
        .target(name: "CSpawn"),
        .target(
            name: "AssayProcesses",
            dependencies: [
                "AssayCore", "AssayCrypto", "AssayEngine", "AssayKit", "AssayPolicy", "AssayYAML", "CSpawn",
                .target(name: "AssayTesting", condition: simulator), .logging, .nioConcurrencyHelpers, .nioCore,
                .nioHPACK, .nioHTTP2, .nioPosix, .swiftProtobuf,
            ],
            exclude: ["Protocol/plugin.proto"]),

        // A whole server as a library, and the command over it; neither knows a plugin.
        .target(
            name: "AssayServer",
            dependencies: [
                "AssayCore", "AssayCrypto", "AssayEngine", "AssayHTTP", "AssayHTTPClient", "AssayHTTPServer",
                "AssayKit", "AssayPolicy", "AssayPolicyTools", "AssayServices", "AssayYAML", "CProcess",
                .target(name: "AssayExtAuthz", condition: extAuthz),
                .target(name: "AssayProcesses", condition: processes), .coreMetrics, .logging, .serviceLifecycle,
                .unixSignals,
            ]),
        .target(
            name: "AssayCommand",
            dependencies: [
                "AssayCore", "AssayCrypto", "AssayEngine", "AssayHTTP", "AssayHTTPClient", "AssayHTTPServer",
                "AssayKit", "AssayPolicy", "AssayPolicyTools", "AssayServer", "AssayServices",
                "AssayYAML", "CProcess", .target(name: "AssayExtAuthz", condition: extAuthz),
                .target(name: "AssayProcesses", condition: processes), .argumentParser, .logging, .serviceLifecycle,
                .unixSignals,
            ]),
        // The one place where plugins are listed, and the subcommands that come with them.
        .target(
            name: "AssayStandard",
            dependencies: [
                "AssayCBOR", "AssayClient", "AssayClientHTTP", "AssayCommand", "AssayCore", "AssayCrypto",
                "AssayEngine", "AssayHTTP", "AssayHTTPServer", "AssayKit", "AssayPolicy",
                "AssayPolicyTools", "AssayServer", "AssayServices", "AssayVerifier",
                .target(name: "AssayAndroidKey", condition: .when(traits: ["AndroidKey"])),
                .target(name: "AssayAppAttest", condition: .when(traits: ["AppAttest"])),
                .target(name: "AssayCustomBackend", condition: .when(traits: ["CustomBackend"])),
                .target(name: "AssayCustomToken", condition: .when(traits: ["CustomToken"])),
                .target(name: "AssayDebug", condition: .when(traits: ["DebugTokens"])),
                .target(name: "AssayDeviceCheck", condition: .when(traits: ["DeviceCheck"])),
                .target(name: "AssayFleetEngine", condition: .when(traits: ["FleetEngine"])),
                .target(name: "AssayHCaptcha", condition: .when(traits: ["HCaptcha"])),
                .target(name: "AssayOAuthClient", condition: .when(traits: ["OAuthClient"])),
                .target(name: "AssayPlayIntegrity", condition: .when(traits: ["PlayIntegrity"])),
                .target(name: "AssayPostgres", condition: .when(traits: ["Postgres"])),
                .target(name: "AssayPrivacyPass", condition: .when(traits: ["PrivacyPass"])),
                .target(name: "AssayPrivateToken", condition: .when(traits: ["PrivateToken"])),
                .target(name: "AssayRecaptchaEnterprise", condition: .when(traits: ["RecaptchaEnterprise"])),
                .target(name: "AssayRecaptchaV3", condition: .when(traits: ["RecaptchaV3"])),
                .target(name: "AssayRedis", condition: .when(traits: ["Redis"])),
                .target(name: "AssaySQLite", condition: .when(traits: ["SQLite"])),
                .target(name: "AssayTurnstile", condition: .when(traits: ["Turnstile"])),
                .target(name: "AssayWebhook", condition: .when(traits: ["Webhook"])),
                .target(name: "AssayAndroid", condition: simulator), .target(name: "AssayApple", condition: simulator),
                .target(name: "AssayTesting", condition: simulator), .target(name: "AssayWeb", condition: simulator),
                .target(name: "AssayTestingHTTP", condition: simulator), .argumentParser, .logging, .nioCore, .nioHTTP1,
                .nioPosix, .nioSSL, .serviceLifecycle, .unixSignals,
                .product(name: "Histogram", package: "hdrhistogram-swift", condition: simulator),
            ]),
        .executableTarget(name: "assay", dependencies: ["AssayCommand", "AssayCore", "AssayStandard"]),

        // Packages with new plugins are copies of the templates that lie beside the tool. `swift package` runs it.
        .executableTarget(name: "new-plugin", path: "Sources/NewPlugin/Tool"),
        newPlugin("NewProvider", verb: "new-provider", "Write a package with a new provider of evidence."),
        newPlugin("NewConsumer", verb: "new-consumer", "Write a package with a new consumer of tokens."),
        newPlugin("NewStore", verb: "new-store", "Write a package with a new state store."),

        // A plugin in a process of its own, for tests and benchmarks.
        .executableTarget(
            name: "process-plugin",
            dependencies: [
                "AssayCrypto", .target(name: "AssayProcesses", condition: processes), .nioCore, .swiftProtobuf,
            ],
            path: "Tests/ProcessPlugin"),
        // Stores that end their process or never answer, for tests of `conformance`.
        .executableTarget(
            name: "wrong-stores", dependencies: ["AssayCommand", "AssayCore", "AssayKit", "AssayTesting"],
            path: "Tests/WrongStores"),
        // What is fuzzed. The fuzzers are built by the package in Tests/Fuzz, which has these files in common with this.
        .target(
            name: "FuzzEntries",
            dependencies: [
                "AssayAndroidKey", "AssayAppAttest", "AssayCustomBackend", "AssayDebug", "AssayExtAuthz",
                "AssayHTTPServer", "AssayPlayIntegrity", "AssayTesting",
            ],
            path: "Tests/Fuzz/Sources/Fuzz/Entries"),

        // Tests.
        .target(
            name: "AssayTestSupport",
            dependencies: ["AssayTesting", .nioCore, .nioEmbedded, .nioHTTP1, .nioHTTPCompression, .nioPosix, .nioSSL],
            path: "Tests/AssayTestSupport"),
        // The rule that text from outside is compared by its bytes, checked in the compiled modules, and code that breaks it.
        .target(name: "TextRuleSamples", dependencies: ["AssayCore"], path: "Tests/TextRuleSamples"),
        tests("TextRulesTests", of: ["TextRuleSamples"]),
        tests("NewPluginTests", of: ["new-plugin"]),
        tests("AssayCoreTests", of: ["AssayTestSupport"]),
        tests("AssayServicesTests", of: ["AssayServices", "AssayTestSupport"]),
        tests("AssayKitTests", of: ["AssayTestSupport"]),
        tests("AssayCryptoTests", of: ["AssayTestSupport"]),
        tests("AssayRequestProofTests", of: ["AssayRequestProof", "AssayTesting"], exclude: ["Vectors"]),
        tests("AssayVerifierTests", of: ["AssayTestSupport", "FuzzEntries"]),
        tests("AssayHummingbirdTests", of: ["AssayHTTP", "AssayHummingbird", "AssayTestSupport", .hummingbirdTesting]),
        tests("CustomTokenTests", of: ["AssayCustomToken", "AssayTesting"]),
        tests(
            "CustomBackendTests",
            of: ["AssayAppAttest", "AssayCustomBackend", "AssayDebug", "AssayServices", "AssayTesting"]),
        tests("DeviceCheckTests", of: ["AssayDeviceCheck", "AssayHTTPClient", "AssayTestingHTTP", "AssayTestSupport"]),
        tests("FleetEngineTests", of: ["AssayDebug", "AssayFleetEngine", "AssayTestSupport"]),
        tests("AssayCBORTests", of: ["AssayTestSupport"]),
        tests("AssayYAMLTests", of: ["AssayYAML"]),
        tests("AssayPolicyTests", of: ["AssayKit", "AssayPolicy"]),
        tests(
            "AssayEngineTests",
            of: [
                "AssayHTTPClient", "AssaySQLite", "AssayServices", "AssayTestingHTTP", "AssayTestSupport",
                "FuzzEntries",
            ]),
        tests("AssayProcessesTests", of: ["AssayTestSupport", "process-plugin"]),
        tests("DebugTests", of: ["AssayDebug", "AssayTesting"]),
        tests("AssayTestingTests", of: ["AssayAppAttest", "AssayTestSupport"]),
        tests(
            "AssayMetricsTests",
            of: ["AssayAppAttest", "AssayDebug", "AssayServer", "AssayServices", .metricsTestKit]),
        tests("AssayHTTPTests", of: ["AssayHTTP", "AssayTestSupport"]),
        tests("AssayHTTPServerTests", of: ["AssayDebug", "AssayHTTPServer", "AssayServer", "AssayTestSupport"]),
        tests("AssayExtAuthzTests", of: ["AssayExtAuthz", "AssayTestSupport"]),
        tests("AssayHTTPClientTests", of: ["AssayHTTPClient", "AssayTestingHTTP", "AssayTestSupport"]),
        tests("AppleTests", of: ["AssayApple", "AssayTesting"]),
        tests(
            "AppAttestTests",
            of: ["AssayAppAttest", "AssayHTTPClient", "AssaySQLite", "AssayTestingHTTP", "AssayTestSupport"]),
        tests("AssayCommandTests", of: ["assay", "AssayTestSupport", "till-server"]),
        tests("AssayStandardTests", of: ["assay", "AssayTestSupport", "wrong-stores"]),
        // The program of the outside package in Tests/Examples/CustomServer, compiled as outside of this package: only public
        // declarations are visible to it.
        .executableTarget(
            name: "till-server",
            dependencies: [
                "AssayCommand", "AssayCore", "AssayCrypto", "AssayEngine", "AssayKit", "AssayStandard", .argumentParser,
            ],
            path: "Tests/Examples/CustomServer/Sources/till-server", packageAccess: false),
        // The same for the program in Tests/Examples/OrdersClient.
        .executableTarget(
            name: "orders-client",
            dependencies: ["AssayClient", "AssayClientHTTP"],
            path: "Tests/Examples/OrdersClient/Sources/orders-client", packageAccess: false),
        tests(
            "AssayClientTests",
            of: ["assay", "AssayClientGRPC", "AssayTestSupport", "orders-client", .grpcInProcessTransport]),
        tests(
            "AssayReloadTests",
            of: ["AssayDebug", "AssayHTTPClient", "AssayServer", "AssayTestingHTTP", "AssayTestSupport"]),
        tests(
            "ReadmeTests",
            of: [
                "AssayAppAttest", "AssayClientGRPC", "AssayClientHTTP", "AssayCustomBackend", "AssayDebug",
                "AssayHTTPServer", "AssayHummingbird", "AssayServer", "AssayTestSupport", .hummingbirdTesting,
                .unixSignals,
            ]),
        tests("AndroidKeyTests", of: ["AssayAndroid", "AssayAndroidKey", "AssayTesting", "AssayTestSupport"]),
        tests(
            "PlayIntegrityTests",
            of: [
                "AssayAndroid", "AssayHTTPClient", "AssayPlayIntegrity", "AssayServices", "AssayTestingHTTP",
                "AssayTestSupport",
            ]),
        tests(
            "WebProvidersTests",
            of: [
                "AssayHCaptcha", "AssayHTTPClient", "AssayRecaptchaEnterprise", "AssayRecaptchaV3", "AssayServices",
                "AssayTestingHTTP", "AssayTestSupport", "AssayTurnstile", "AssayWeb",
            ]),
        tests(
            "PrivacyPassTests",
            of: [
                "AssayAppAttest", "AssayDebug", "AssayHTTP", "AssayPrivacyPass", "AssayPrivateToken",
                "AssayTestSupport",
            ]),
        tests("OAuthClientTests", of: ["AssayDebug", "AssayOAuthClient", "AssayTesting"]),
        tests(
            "DifferentialTests",
            of: ["AssayCustomBackend", "AssayOAuthClient", "AssayServices", "AssayTestSupport"],
            path: "Tests/Differential"),
        tests(
            "ConsumptionTests",
            of: [
                "AssayAppAttest", "AssayCustomBackend", "AssayDeviceCheck", "AssayFleetEngine", "AssayOAuthClient",
                "AssayServices", "AssayTesting",
            ]),
        tests("WebhookTests", of: ["AssayHTTPClient", "AssayTestingHTTP", "AssayTestSupport", "AssayWebhook"]),
        tests("PostgresTests", of: ["AssayPostgres", "AssayTestSupport"]),
        tests("RedisTests", of: ["AssayRedis", "AssayTestSupport"]),
        tests("SQLiteTests", of: ["AssaySQLite", "AssayTestSupport"]),
    ]
)

for (name, description) in plugins {
    package.traits.insert(.trait(name: name, description: description, enabledTraits: ["Server"]))
}

// Programs of packages outside of this one are compiled as there.
let programsOfOthers = ["orders-client", "till-server"]
for target in package.targets
where ![.system, .plugin].contains(target.type) && !programsOfOthers.contains(target.name) {
    target.swiftSettings = settings
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
