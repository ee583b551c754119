/// Which encodings are accepted.
public enum CBORProfile: Sendable, Hashable {
    /// Definite lengths and shortest heads, no tags, no floating point, no simple values beyond booleans and null; the
    /// keys of a map in any order. Most of RFC 8949, section 4.2.1, without the sorting that App Attest does not keep.
    case strict
    /// Everything well-formed with distinct keys and text that is UTF-8 (RFC 8949, section 5.3.1); what a tag means for its
    /// content is not checked.
    case generic
}
