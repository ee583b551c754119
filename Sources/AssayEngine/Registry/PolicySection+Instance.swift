internal import AssayKit
internal import AssayPolicy
internal import AssayYAML

extension PolicySection {
    /// Makes an instance of the plugin that the section is of, with metrics of its own.
    ///
    /// - Throws: what is wrong in the section, at its place.
    func instance<Configuration: Decodable, Instance>(
        of plugin: PluginDescriptor, _ host: PluginHost,
        _ make: (Configuration, PluginHost) throws(ConfigurationError) -> Instance
    ) throws(Diagnostics) -> Instance {
        let configuration = try decode(Configuration.self)
        var host = host
        host.meter = host.meter.scoped(to: plugin.name)
        do throws(ConfigurationError) {
            return try make(configuration, host)
        } catch {
            throw diagnostics(for: error)
        }
    }
}
