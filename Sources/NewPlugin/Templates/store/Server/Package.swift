// swift-tools-version: 6.2

import PackageDescription

// A server with the store in it. It is a package of its own, because it needs many others, which the store does not.
let package = Package(
    name: "paper-trail-server",
    platforms: [.macOS(.v26)],
    products: [.executable(name: "paper-trail-server", targets: ["paper-trail-server"])],
    dependencies: [
        .package(name: "paper-trail", path: ".."),
        .package(name: "assay", path: "../../../../..", traits: ["Server"]),
    ],
    targets: [
        .executableTarget(
            name: "paper-trail-server",
            dependencies: [
                .product(name: "PaperTrail", package: "paper-trail"),
                .product(name: "AssayCommand", package: "assay"),
                .product(name: "AssayDebug", package: "assay"),
                .product(name: "AssayEngine", package: "assay"),
            ])
    ]
)
