import { Kind } from 'graphql';
import type { ValueNode } from 'graphql';

/** A value as a document writes it: what JSON has, and variables in it. */
export class VariableReference {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
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
        return Object.fromEntries(each.fields.map(({ name, value }) => [name.value, convert(value)]));
      case Kind.STRING:
      case Kind.ENUM:
      case Kind.BOOLEAN:
        return each.value;
    }
  };
  return { value: convert(node), hasVariables };
}
