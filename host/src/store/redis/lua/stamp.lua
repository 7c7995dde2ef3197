-- A version that no key of this part has had: the time, or one more than the greatest so far.
-- Microseconds since 1970 are whole numbers in Lua until the year 2255.
local function stamp()
    local time = redis.call('TIME')
    local last = tonumber(redis.call('GET', KEYS[2]) or '0')
    local version = math.max(last + 1, time[1] * 1000000 + time[2])
    local text = string.format('%.0f', version)
    redis.call('SET', KEYS[2], text)
    return text
end
