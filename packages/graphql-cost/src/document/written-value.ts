import { Kind } from 'graphql';
import type { ObjectValueNode, ValueNode } from 'graphql';
import { NoPrice } from './no-price.ts';

/** A value as a document writes it: what JSON has, and variables in it. */
export class VariableReference {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** Servers that don't refuse a repeated field differ in which they take. */
function objectOf(
  { fields }: ObjectValueNode,
  convert: (node: ValueNode) => unknown,
): Record<string, unknown> {
  const object = Object.fromEntries(fields.map(({ name, value }) => [name.value, convert(value)]));
  if (Object.keys(object).length === fields.length) return object;
  throw new NoPrice('invalid', 'A field of an input object is repeated.');
}

export type Written = { value: unknown; hasVariables: boolean };

export function writtenValue(node: ValueNode): Written {
  let hasVariables = false;
  const convert = (each: ValueNode): unknown => {
    switch (each.kind) {
      case Kind.VARIABLE:
        hasVariables = true;
        return new VariableReference(each.name.value);
      case Kind.NULL:
        return null;
      case Kind.INT:
      case Kind.FLOAT:
        return Number(each.value);
      case Kind.LIST:
        return each.values.map(convert);
      case Kind.OBJECT:
        return objectOf(each, convert);
      case Kind.STRING:
      case Kind.ENUM:
      case Kind.BOOLEAN:
        return each.value;
    }
  };
  return { value: convert(node), hasVariables };
}
