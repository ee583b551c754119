/// The scripts that the server runs, each of them atomic.
///
/// The first key is that of the identity, and the first argument what it must be: so nothing is decided upon data that
/// was replaced. In a cluster the identity is in another slot; there the argument is empty, and the first key any key of
/// the slot.
///
/// Times and counters are twenty decimal digits, which compare as texts as their numbers do; a time is the milliseconds
/// since 1970 plus 2^63. The value of an entry follows its time, or `-` for an entry that does not expire.
enum Script: Int, Sendable, CaseIterable {
    case identify
    case commit
    case put
    case get
    case page

    var text: String {
        switch self {
        case .identify: Script.identifyText
        case .commit: Script.checked + Script.commitText
        case .put: Script.checked + Script.putText
        case .get: Script.checked + "return redis.call('GET', KEYS[2])"
        case .page: Script.checked + Script.pageText
        }
    }

    /// The word by which an error says that the identity is another one.
    private static let replacedWord = ServerError.Kind.replaced.rawValue

    private static let checked = """
        if ARGV[1] ~= '' and redis.call('GET', KEYS[1]) ~= ARGV[1] then
            return redis.error_reply('\(replacedWord) the identity of the data is another one')
        end

        """

    /// Keys: the identity, a key to try out; arguments: an identity to set where there is none, or nothing.
    ///
    /// Returns the identity. It also tries each command of the other scripts, so that a permission that is missing is
    /// found before anything depends on it.
    private static let identifyText = """
        local found = redis.call('GET', KEYS[1])
        if not found and ARGV[1] ~= '' then
            redis.call('SET', KEYS[1], ARGV[1])
            found = ARGV[1]
        end
        redis.call('TIME')
        if ARGV[1] ~= '' then
            redis.call('ZADD', KEYS[2], 0, 'x')
            redis.call('ZRANGEBYLEX', KEYS[2], '-', '+', 'LIMIT', 0, 1)
            redis.call('ZREM', KEYS[2], 'x')
            redis.call('SET', KEYS[2], 'x', 'PXAT', 32503680000000)
            redis.call('GETRANGE', KEYS[2], 0, 0)
            redis.call('EXISTS', KEYS[2])
            redis.call('DEL', KEYS[2])
        end
        return found or ''
        """

    /// Keys: the identity, then for each change its key and its index (the key again: none).
    ///
    /// Arguments: the identity, now, then for each change five: kind, time or counter, when the server removes it by its
    /// own clock, name, value.
    ///
    /// Returns 0, or the number of the first change that cannot be made.
    private static let commitText = """
        local t = redis.call('TIME')
        local clock = t[1] * 1000 + math.floor(t[2] / 1000)
        local now = ARGV[2]
        local count = (#KEYS - 1) / 2
        for i = 1, count do
            local a = 5 * i - 2
            local new = ARGV[a + 1]
            local old = redis.call('GETRANGE', KEYS[2 * i], 0, 19)
            if ARGV[a] == 'c' then
                if old == '' then old = '00000000000000000000' end
                if new <= old then return i end
            else
                if old ~= '' then
                    if string.sub(old, 1, 1) == '-' or old > now then return i end
                    if new ~= '-' and new <= old then return i end
                end
                local removed = ARGV[a + 2]
                if removed ~= '' and tonumber(removed) <= clock then return i end
            end
        end
        for i = 1, count do
            local a = 5 * i - 2
            local key, index = KEYS[2 * i], KEYS[2 * i + 1]
            if ARGV[a] == 'c' then
                redis.call('SET', key, ARGV[a + 1])
            else
                if index ~= key then redis.call('ZADD', index, 0, ARGV[a + 3]) end
                if ARGV[a + 2] == '' then
                    redis.call('SET', key, ARGV[a + 1] .. ARGV[a + 4])
                else
                    redis.call('SET', key, ARGV[a + 1] .. ARGV[a + 4], 'PXAT', ARGV[a + 2])
                end
            end
        end
        return 0
        """

    /// Keys: the identity, the entry, its index (the entry again: none).
    ///
    /// Arguments: the identity, the time (empty: delete), when the server removes it by its own clock, how long it keeps
    /// it at least, name, value.
    private static let putText = """
        local key, index = KEYS[2], KEYS[3]
        if ARGV[2] == '' then
            redis.call('DEL', key)
            if index ~= key then redis.call('ZREM', index, ARGV[5]) end
            return 0
        end
        if index ~= key then redis.call('ZADD', index, 0, ARGV[5]) end
        if ARGV[3] == '' then
            redis.call('SET', key, ARGV[2] .. ARGV[6])
        else
            local t = redis.call('TIME')
            local least = t[1] * 1000 + math.floor(t[2] / 1000) + tonumber(ARGV[4])
            local removed = math.max(tonumber(ARGV[3]), least)
            redis.call('SET', key, ARGV[2] .. ARGV[6], 'PXAT', string.format('%.0f', removed))
        end
        return 0
        """

    /// Keys: the identity, the index.
    ///
    /// Arguments: the identity, where to begin, the greatest count, what the keys of
    /// entries begin with, and how many bytes of values suffice (0: no values are read).
    ///
    /// Returns the number of names found, then names and values by turns, up to the bytes. Names whose entries are gone
    /// leave the index.
    private static let pageText = """
        local names = redis.call('ZRANGEBYLEX', KEYS[2], ARGV[2], '+', 'LIMIT', 0, ARGV[3])
        local out, bytes, limit = {#names}, 0, tonumber(ARGV[5])
        for _, name in ipairs(names) do
            local key = ARGV[4] .. name .. '}'
            local value
            if limit > 0 then
                value = redis.call('GET', key)
            else
                value = redis.call('EXISTS', key) == 1 and '-'
            end
            out[#out + 1] = name
            out[#out + 1] = value
            if not value then
                redis.pcall('ZREM', KEYS[2], name)
            else
                bytes = bytes + #value
                if limit > 0 and bytes >= limit then break end
            end
        end
        return out
        """
}
