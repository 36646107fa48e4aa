import { expect, test } from '@jest/globals';
import { isQuery } from './operation-type.ts';

test.each<[boolean, string, string?]>([
  [true, '{ a }'],
  [true, 'query { a }'],
  [
    true,
    '# mutation { b }\nquery A($x: In = {y: [1, 2]}, $z: String = "}") @d(e: {f: 1}) { a(b: "mutation {") { c } }',
  ],
  [true, 'query @d { a }'],
  [true, 'fragment F on T { x } query A { ...F }'],
  [true, 'query A { a } mutation B { b }', 'A'],
  [true, 'query A { a(text: """ } mutation { \\""" """) }'],
  [true, '\ufeff{ a }'],
  [false, 'mutation { a }'],
  [false, 'mutation A { query }'],
  [false, '"""query""" mutation { a }'],
  [false, 'subscription { a }'],
  [false, 'query A { a } mutation B { b }', 'B'],
  [false, 'query A { a } query B { b }'],
  [false, 'query A { a } { b }'],
  [false, 'query A { a } mutation A { b }', 'A'],
  [false, 'query A { a }', 'B'],
  [false, 'query A { a'],
  [false, ''],
])('%s: %s %s', (...[expected, document, name]) => {
  expect(isQuery(document, name)).toBe(expected);
});
