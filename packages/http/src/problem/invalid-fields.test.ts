import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { invalidFields, invalidInput } from './invalid-fields.ts';
import { problemDocument } from './problem.ts';

const schema = z.strictObject({
  name: z.string('must be text'),
  size: z.strictObject({ width: z.int('must be a whole number') }),
});

function documentOf(input: unknown) {
  const { error } = schema.safeParse(input);
  if (error === undefined) throw new Error('nothing was wrong');
  return problemDocument(invalidInput(error), 'id');
}

test('all faulty fields are named, nested ones by their path, and none of their values', () => {
  expect(documentOf({ name: 7, size: { width: 'secret' } })).toEqual({
    type: 'urn:tollgate:problem:invalid_request',
    title: 'The request is malformed',
    status: 400,
    detail: 'name: must be text; size.width: must be a whole number.',
    code: 'invalid_request',
    request_id: 'id',
    errors: [
      { field: 'name', message: 'must be text' },
      { field: 'size.width', message: 'must be a whole number' },
    ],
  });
});

test('unknown members are named by their path', () => {
  const document = documentOf({ name: 'x', size: { width: 1, height: 1 }, colour: 'secret' });
  expect(document.errors).toEqual([
    { field: 'size.height', message: 'is not allowed here' },
    { field: 'colour', message: 'is not allowed here' },
  ]);
  expect(JSON.stringify(document)).not.toContain('secret');
});

test('of unknown members with odd names, and of many, it is only told that they are there', () => {
  const good = { name: 'x', size: { width: 1 } };
  const told = [{ field: '', message: 'there are unknown members' }];
  for (const odd of ['', ' ', 'a.b', '<script>', 'x'.repeat(65), '\u0000', 'ünknown', '__proto__2']) {
    expect([odd, documentOf({ ...good, [odd]: 1 }).errors]).toEqual([odd, told]);
  }
  const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`m${String(index)}`, 1]));
  expect(documentOf({ ...good, ...many }).errors).toHaveLength(11);
});

test.each([[null], ['text'], [[1]], [7]])('%j is no JSON object', (input) => {
  expect(documentOf(input).errors).toEqual([{ field: '', message: 'the body must be a JSON object' }]);
});

test('a field with two faults is named once, with the first', () => {
  const { errors } = invalidFields([
    { field: 'a', message: 'one' },
    { field: 'b', message: 'two' },
    { field: 'a', message: 'three' },
  ]);
  expect(errors?.toSorted((one, other) => one.field.localeCompare(other.field))).toEqual([
    { field: 'a', message: 'one' },
    { field: 'b', message: 'two' },
  ]);
});
