package assay.appcheck;

import java.util.Collection;

/** A caller that waits for a token, and when it waits no more, whatever others wait for before it. */
final class Waiting {
    final TokenCallback caller;
    final long until;

    Waiting(TokenCallback caller, long until) {
        this.caller = caller;
        this.until = until;
    }

    /** When the first of some callers waits no more; never, if there is none. */
    static long end(Collection<Waiting> waiting) {
        long end = Long.MAX_VALUE;
        for (Waiting one : waiting) end = Math.min(end, one.until);
        return end;
    }
}
