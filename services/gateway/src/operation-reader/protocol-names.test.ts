import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { assertShallow, assertExactNames, exactParameters, withExactNames } from './protocol-names.ts';

const isExact = (json: string) => {
  JSON.parse(json);
  try {
    assertExactNames(json);
    return true;
  } catch {
    return false;
  }
};

test.each([
  '{}',
  '[]',
  '{"query":"","variables":{"query":1,"Query":2,"a":{"query":3}},"extensions":[{"query":1},{"query":2}]}',
  '{"a":"query","b":"Query"}',
  '{"a\\"query":1,"\\\\":"query","query":"\\\\"}',
  '{"other":1,"other":2,"\\u006fther":3}',
  ' [ {"query":1} , {"query":2} ] ',
  '{"a":[],"query":1}',
  '{"extensions":{"a":{"x":1},"b":[{"x":1},{"x":1}],"x":"a"},"variables":{"a":"b","b":["b",{"b":1}]}}',
  '{"variables":[{"a":1},{"a":2}],"other":{"a":1,"a":2}}',
  '[{"extensions":{"a":1}},{"extensions":{"a":1}}]',
])('every reader finds the same in %s', (json) => {
  expect(isExact(json)).toBe(true);
});

test.each([
  '{"query":1,"query":1}',
  '{"query":1 , "a":{"b":[{}]} , "query" : 1}',
  '{"quer\\u0079":1}',
  '{"\\u0051uery":1}',
  '{"QUERY":1}',
  '{"documentid":1}',
  '[{"query":1},{"query":2,"query":3}]',
  '{"a":"\\\\","query":1,"Query":2}',
  '{"extensions":{"persistedQuery":{},"other":[],"persistedQuery":{}}}',
  '{"extensions":{"a":1,"A":1}}',
  '{"extensions":{"a":1,"\\u0061":1}}',
  '[{},{"extensions":{"persistedQuery":{"sha256Hash":"a","nested":{"b":1},"sha256Hash":"b"}}}]',
  '{"extensions":{"a":[[{"b":{},"b":{}}]]}}',
  '{"variables":{"a":1,"a":2}}',
  '{"variables":{"b":1,"a":1,"\\u0061":2}}',
  '{"variables":{"c":1,"b":1,"a":1,"b":2}}',
  '{"variables":{"page":{"first":1,"a":{},"first":1000}}}',
  '[{"variables":{"a":1}},{"variables":{"a":[{"b":1,"b":2}]}}]',
  '{"variables":[{"a":1},{"a":2,"a":3}]}',
])('readers may differ on %s', (json) => {
  expect(isExact(json)).toBe(false);
});

test.each([
  '?query=a&variables=b',
  '?a[]=1&a[]=2&q.uery=1&variable[first]=1',
  '?query=%7Ba(b:";")%7D&operationName=A',
])('every reader finds the same in the URL of %s', (query) => {
  expect(() => exactParameters(query)).not.toThrow();
});

test.each([
  '?query=a&query=b',
  '?query=a&Query=b',
  '?variables={}&variables[first]=1000',
  '?variables={}&variables%5Bfirst%5D=1000',
  '?variables={}&[variables]=1',
  '?query=a&query[]=b',
  '?query=a&%20query=b',
  '?query=a&document.id=b',
  '?query=a&document%20id=b',
  '?query=a&query%00b=b',
  '?a=1;query=b',
  '?query=a;variables={}',
  '?variables={"fi%ffrst":1000}',
  '?variables={"fi%zzrst":1000}',
])('readers may differ on the URL of %s', (query) => {
  expect(() => exactParameters(query)).toThrow(expect.objectContaining({ code: 'invalid_request' }));
});

describe('any JSON', () => {
  const spaces = fc.constantFrom('', ' ', '\n', '\t');
  const name = fc.oneof(fc.string(), fc.constantFrom('query', 'id', '"', '\\', '{', ']'));
  const written = fc.tuple(fc.jsonValue(), spaces).map(([value, space]) => JSON.stringify(value) + space);

  test('is exact if and only if no protocol name of its object is repeated', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(name, spaces, written), { maxLength: 6 }), (members) => {
        const known = members.map(([one]) => one).filter((one) => one === 'query' || one === 'id');
        const json = members.map(([one, space, value]) => `${space}${JSON.stringify(one)}${space}:${value}`);
        expect(isExact(`{${json.join()}}`)).toBe(new Set(known).size === known.length);
      }),
    );
  });
});

test('what only readers without regard to case would read is left out', () => {
  expect(withExactNames({ query: 'a', Query: 'b', other: 1, Other: 2, 'exten\u017fions': 3 })).toEqual({
    query: 'a',
    other: 1,
    Other: 2,
  });
});

describe('nesting', () => {
  const nested = (levels: number, inside = '1') =>
    `{"query":"{ a }","variables":{"v":${'['.repeat(levels - 2)}${inside}${']'.repeat(levels - 2)}}}`;

  test('of 64 levels is read, and of more is refused, however long the request is', () => {
    const long = JSON.stringify('[{'.repeat(20_000));
    for (const inside of ['1', long]) {
      for (const check of [assertExactNames, assertShallow]) {
        expect(() => {
          check(nested(64, inside));
        }).not.toThrow();
      }
      expect(() => {
        assertExactNames(nested(65, inside));
      }).toThrow('nested more than 64 levels deep');
    }
    expect(() => {
      assertShallow(nested(65, long));
    }).toThrow('nested more than 64 levels deep');
  });

  test('is told before a request is parsed, valid or not', () => {
    const opened = '['.repeat(20_000);
    expect(() => {
      assertShallow(opened);
    }).toThrow('nested more than 64 levels deep');
    expect(() => {
      assertShallow(`["${opened}`);
    }).not.toThrow();
  });
});
