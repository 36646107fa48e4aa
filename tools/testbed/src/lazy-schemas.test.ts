import { expect, test } from '@jest/globals';
import { Ajv } from 'ajv';
import { compileLazily } from './lazy-schemas.ts';

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

const SCHEMAS = {
  node: {
    type: 'object',
    required: ['id'],
    properties: {
      id: { type: 'string' },
      parent: { anyOf: [{ type: 'string' }, ref('node')] },
      children: { type: 'array', items: ref('node') },
    },
  },
  // Can't be compiled.
  broken: { type: 'nothing' },
  holder: { type: 'object', properties: { broken: { anyOf: [{ type: 'null' }, ref('broken')] } } },
};

test('references are followed wherever they lead, and a fault names its place', () => {
  const validate = compileLazily(new Ajv({ allErrors: true }), SCHEMAS)(ref('node'));
  expect(validate({ id: 'a', parent: 'b', children: [{ id: 'c', parent: { id: 'a' } }] })).toBe(true);
  expect(validate({ id: 'a', children: [{ id: 'c', children: [{ id: 1 }, {}] }] })).toBe(false);
  expect(validate.errors?.map(({ instancePath, message }) => [instancePath, message])).toEqual([
    ['/children/0/children/0/id', 'must be string'],
    ['/children/0/children/1', "must have required property 'id'"],
  ]);
  expect(validate({ id: 'a', parent: { id: 1 } })).toBe(false);
});

test('a schema is compiled when a value reaches it', () => {
  const validate = compileLazily(new Ajv(), SCHEMAS)(ref('holder'));
  expect(validate({ broken: null })).toBe(true);
  expect(() => validate({ broken: 1 })).toThrow('type');
});
