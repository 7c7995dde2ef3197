local found = redis.call('HMGET', KEYS[1], 'version', 'counter')
if found[2] then
    return 'counter'
end
if (found[1] or '') ~= ARGV[1] then
    return 'conflict'
end
redis.call('HSET', KEYS[1], 'version', stamp(), 'value', ARGV[2])
return 'done'
