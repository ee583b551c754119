extension Engine {
    /// Does what providers have to do between calls, until the task is cancelled: run it beside whatever makes the calls.
    ///
    /// The apps' runs are spread over their intervals. Policies that take the place of the present ones take effect
    /// within a round. No run is left behind: a cancelled one is waited for.
    public func runMaintenance(_ options: MaintenanceOptions = MaintenanceOptions()) async {
        await MaintenanceRunner(host: host, options: options) { self.maintenance }.run()
    }
}
