if redis.call('HEXISTS', KEYS[1], 'value') == 1 then
    return 'value'
end
local added = redis.pcall('HINCRBY', KEYS[1], 'counter', ARGV[1])
if type(added) == 'table' and added.err then
    if string.find(added.err, 'overflow', 1, true) then
        return 'overflow'
    end
    return added
end
redis.call('HSET', KEYS[1], 'version', stamp())
-- Read as text: a number of Lua would lose the last digits of a large one.
return redis.call('HGET', KEYS[1], 'counter')
