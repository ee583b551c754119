internal import Foundation

/// The folder of a new package.
struct NewPackage {
    let folder: URL

    /// A folder with the plugin's name in another one.
    init(_ name: PluginName, in parent: URL) {
        folder = parent.appendingPathComponent(name.hyphenated)
    }

    /// Writes the files into a folder that was not there before.
    ///
    /// - Throws: ``Refusal`` when anything has the folder's name, or when a file cannot be written.
    func write(_ files: [Template.File]) throws(Refusal) {
        let manager = FileManager.default
        // A symbolic link that leads nowhere counts, too.
        if (try? manager.attributesOfItem(atPath: folder.path)) != nil {
            throw Refusal("\(folder.path) exists already: nothing was written")
        }
        do {
            try manager.createDirectory(at: folder, withIntermediateDirectories: false)
            for file in files {
                let target = folder.appendingPathComponent(file.path)
                try manager.createDirectory(
                    at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
                try Data(file.text.utf8).write(to: target, options: .withoutOverwriting)
            }
        } catch {
            throw Refusal("\(folder.path) could not be written: \(error.localizedDescription)")
        }
    }
}
