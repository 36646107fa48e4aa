import {
  astFromValue,
  isAbstractType,
  print,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
} from 'graphql';
import type { GraphQLInputType, GraphQLNamedType, GraphQLSchema } from 'graphql';

/** A type such as `[Country!]!`, and the name of the type within. */
export type TypeText = { text: string; name: string };

type Field = {
  name: string;
  type: TypeText;
  description: string | null;
  deprecation: string | null;
  args: readonly { name: string; type: TypeText; default: string | null }[];
};

/** A type of the schema in texts. */
export type TypeTexts = {
  name: string;
  /** An interface or a union is abstract, a scalar or an enum a leaf. */
  kind: 'object' | 'abstract' | 'input' | 'leaf';
  description: string | null;
  fields: readonly Field[];
  /** The possible types of a union or an interface. */
  members: readonly TypeText[];
  values: readonly { name: string; description: string | null }[];
};

/** All types but those of introspection, and the root types by what they are for. */
export type SchemaTexts = {
  roots: readonly { label: string; type: TypeText }[];
  types: readonly TypeTexts[];
};

export function schemaTexts(schema: GraphQLSchema): SchemaTexts {
  const roots = [
    { label: 'query', type: schema.getQueryType() },
    { label: 'mutation', type: schema.getMutationType() },
    { label: 'subscription', type: schema.getSubscriptionType() },
  ];
  const names = Object.keys(schema.getTypeMap()).filter((name) => !name.startsWith('__'));
  return {
    roots: roots.flatMap(({ label, type }) => (type ? [{ label, type: typeText(type.name) }] : [])),
    types: names.map((name) => typeTexts(schema, name)),
  };
}

function typeText(text: string): TypeText {
  return { text, name: text.replace(/[[\]!]/g, '') };
}

function typeTexts(schema: GraphQLSchema, name: string): TypeTexts {
  const type = schema.getType(name);
  const members = isAbstractType(type) ? schema.getPossibleTypes(type) : [];
  const values = isEnumType(type) ? type.getValues() : [];
  return {
    name,
    kind: kindOf(type),
    description: type?.description ?? null,
    fields: fieldsOf(schema, name),
    members: members.map((member) => typeText(member.name)),
    values: values.map((value) => ({ name: value.name, description: value.description ?? null })),
  };
}

function kindOf(type: GraphQLNamedType | undefined): TypeTexts['kind'] {
  if (isInputObjectType(type)) return 'input';
  if (isAbstractType(type)) return 'abstract';
  return isObjectType(type) ? 'object' : 'leaf';
}

function fieldsOf(schema: GraphQLSchema, name: string): Field[] {
  const type = schema.getType(name);
  if (isInputObjectType(type)) {
    return Object.values(type.getFields()).map((field) => ({ ...common(field), args: [] }));
  }
  if (!isObjectType(type) && !isInterfaceType(type)) return [];
  return Object.values(type.getFields()).map((field) => ({
    ...common(field),
    args: field.args.map(({ name: argument, type: input, defaultValue }) => ({
      name: argument,
      type: typeText(input.toString()),
      default: writtenValue(defaultValue, input),
    })),
  }));
}

function writtenValue(value: unknown, type: GraphQLInputType): string | null {
  const node = value === undefined ? null : astFromValue(value, type);
  return node ? print(node) : null;
}

type Described = {
  name: string;
  type: { toString: () => string };
  description?: string | null | undefined;
  deprecationReason?: string | null | undefined;
};

function common({ name, type, description, deprecationReason }: Described) {
  return {
    name,
    type: typeText(type.toString()),
    description: description ?? null,
    deprecation: deprecationReason ?? null,
  };
}
