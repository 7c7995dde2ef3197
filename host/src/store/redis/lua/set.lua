if redis.call('HEXISTS', KEYS[1], 'counter') == 1 then
    return 'counter'
end
redis.call('HSET', KEYS[1], 'version', stamp(), 'value', ARGV[1])
return 'done'
