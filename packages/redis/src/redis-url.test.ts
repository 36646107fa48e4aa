import { expect, test } from '@jest/globals';
import { parseRedisUrl } from './redis-url.ts';

test('one server is left to ioredis as it is', () => {
  for (const url of ['redis://h', 'rediss://:p%40@h:6380/2', 'redis://u:p@[::1]:1']) {
    expect(parseRedisUrl(url)).toEqual({ topology: 'standalone', tls: url.startsWith('rediss:'), url });
  }
});

test('a cluster is named by nodes, with a login and TLS if wanted', () => {
  expect(parseRedisUrl('redis+cluster://a:1,b,[::1]:3')).toEqual({
    topology: 'cluster',
    tls: false,
    nodes: [
      { host: 'a', port: 1 },
      { host: 'b', port: 6_379 },
      { host: '::1', port: 3 },
    ],
    login: {},
  });
  expect(parseRedisUrl('rediss+cluster://u:p%40%2C@a:1')).toMatchObject({
    tls: true,
    login: { username: 'u', password: 'p@,' },
  });
  expect(parseRedisUrl('redis+cluster://:p:q@a/')).toMatchObject({ login: { password: 'p:q' } });
});

test('Sentinel is named by sentinels and the master’s name; their login is the servers’ unless it is given', () => {
  expect(parseRedisUrl('rediss+sentinel://:p@a:1,b/my%20master?db=3')).toEqual({
    topology: 'sentinel',
    tls: true,
    sentinels: [
      { host: 'a', port: 1 },
      { host: 'b', port: 26_379 },
    ],
    masterName: 'my master',
    db: 3,
    login: { password: 'p' },
    sentinelLogin: { password: 'p' },
  });
  const own = 'redis+sentinel://:p@a/m?sentinelUsername=s&sentinelPassword=q%26';
  expect(parseRedisUrl(own)).toMatchObject({ sentinelLogin: { username: 's', password: 'q&' } });
  expect(parseRedisUrl('redis+sentinel://:p@a/m?sentinelPassword=')).toHaveProperty('sentinelLogin', {});
});

test('anything else is refused, by words that hold nothing of it', () => {
  for (const url of [
    'http://:hunter2@h',
    'redis:hunter2',
    'redis+other://:hunter2@h',
    'redis+cluster://',
    'redis+cluster://:hunter2@',
    'redis+cluster://:hunter2@h:0',
    'redis+cluster://:hunter2@h:99999',
    'redis+cluster://:hunter2@a,,b',
    'redis+cluster://:hunter2@a b',
    'redis+cluster://:hunter2@a/1',
    'redis+cluster://:hunter2@a?x=1',
    'redis+cluster://:hunter2%@a',
    'redis+sentinel://:hunter2@a',
    'redis+sentinel://:hunter2@a/',
    'redis+sentinel://:hunter2@a/m?db=x',
    'redis+sentinel://:hunter2@a/m?other=hunter2',
  ]) {
    expect(() => parseRedisUrl(url)).toThrow(/^must /);
    expect(() => parseRedisUrl(url)).not.toThrow(/hunter2/);
  }
});
