// swift-tools-version: 6.2

import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

// A package of its own, because a fuzzer is built with instrumented code and links in its own way; see `./run --help`.
let package = Package(
    name: "fuzz",
    products: [
        .library(name: "Fuzz", type: .static, targets: ["Fuzz"])
    ],
    dependencies: [
        .package(name: "assay", path: "../.."),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    ],
    targets: [
        // What is fuzzed, in `Entries`, is also a target of the main package, whose tests run the corpora through it.
        .target(
            name: "Fuzz",
            dependencies: [
                .product(name: "AssayCore", package: "assay"),
                .product(name: "AssayKit", package: "assay"),
                .product(name: "AssayCrypto", package: "assay"),
                .product(name: "AssayCBOR", package: "assay"),
                .product(name: "AssayTesting", package: "assay"),
                .product(name: "AssayYAML", package: "assay"),
                .product(name: "AssayPolicy", package: "assay"),
                .product(name: "AssayEngine", package: "assay"),
                .product(name: "AssayServices", package: "assay"),
                .product(name: "AssayExtAuthz", package: "assay"),
                .product(name: "AssayHTTPServer", package: "assay"),
                .product(name: "AssayVerifier", package: "assay"),
                .product(name: "AssayAndroidKey", package: "assay"),
                .product(name: "AssayAppAttest", package: "assay"),
                .product(name: "AssayCustomBackend", package: "assay"),
                .product(name: "AssayDebug", package: "assay"),
                .product(name: "AssayPlayIntegrity", package: "assay"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings),
        // Makes the corpora that are not written by hand.
        .executableTarget(
            name: "Seeds",
            dependencies: [
                "Fuzz",
                .product(name: "AssayCore", package: "assay"),
                .product(name: "AssayKit", package: "assay"),
                .product(name: "AssayCrypto", package: "assay"),
                .product(name: "AssayCBOR", package: "assay"),
                .product(name: "AssayTesting", package: "assay"),
            ],
            swiftSettings: settings),
    ]
)
