import { expect, test } from '@jest/globals';
import { isInputObjectType, isObjectType } from 'graphql';
import { schema } from './schema.ts';

test('every type, field and argument tells what it is', () => {
  const silent: string[] = [];
  for (const type of Object.values(schema.getTypeMap())) {
    if (type.name.startsWith('__')) continue;
    if (!type.description) silent.push(type.name);
    if (isObjectType(type)) {
      for (const field of Object.values(type.getFields())) {
        if (!field.description) silent.push(`${type.name}.${field.name}`);
        for (const argument of field.args) {
          if (!argument.description) silent.push(`${type.name}.${field.name}(${argument.name})`);
        }
      }
    }
    if (isInputObjectType(type)) {
      for (const field of Object.values(type.getFields())) {
        if (!field.description) silent.push(`${type.name}.${field.name}`);
      }
    }
  }
  expect(silent).toEqual([]);
});

test('there is nothing to change: no mutation type', () => {
  expect(schema.getMutationType()).toBeUndefined();
});
