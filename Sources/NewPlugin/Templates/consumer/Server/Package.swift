// swift-tools-version: 6.2

import PackageDescription

// A server with the consumer in it. It is a package of its own, because it needs many others, which the consumer does not.
let package = Package(
    name: "visitor-pass-server",
    platforms: [.macOS(.v26)],
    products: [.executable(name: "visitor-pass-server", targets: ["visitor-pass-server"])],
    dependencies: [
        .package(name: "visitor-pass", path: ".."),
        .package(name: "assay", path: "../../../../..", traits: ["Server"]),
    ],
    targets: [
        .executableTarget(
            name: "visitor-pass-server",
            dependencies: [
                .product(name: "VisitorPass", package: "visitor-pass"),
                .product(name: "AssayCommand", package: "assay"),
                .product(name: "AssayDebug", package: "assay"),
                .product(name: "AssayEngine", package: "assay"),
                .product(name: "AssaySQLite", package: "assay"),
            ])
    ]
)
