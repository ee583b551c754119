import AssayCore
import AssayHTTP
import AssayHTTPServer
import AssayTestSupport

extension IdentityFiles {
    func open() throws(TLSError) -> ServerCertificate {
        try ServerCertificate(certificateFile: certificate, keyFile: key)
    }
}
