import { Kind, parse, print } from 'graphql';
import type {
  DefinitionNode,
  EnumTypeDefinitionNode,
  FieldDefinitionNode,
  InputObjectTypeDefinitionNode,
  InterfaceTypeDefinitionNode,
  ObjectTypeDefinitionNode,
} from 'graphql';
import { keepLast } from '@tollgate/plain-http/repeated-heads';

/** A field or a type, as it is found. */
type Entry = { key: string; words: string; text: string; isRoot: boolean };

const DESCRIPTION_MAX_CHARACTERS = 300;
const MAX_MATCHES = 40;

/** Each is looked for in every entry. */
const MAX_WORDS = 16;

/** Finds fields and types by their names and descriptions. The index is made once for each text of the schema. */
export function createSchemaSearch(schemaText: () => string | null): {
  isReady: () => boolean;
  search: (words: string) => string[];
} {
  const indexOf = keepLast(buildIndex);
  return {
    isReady: () => schemaText() !== null,
    search: (words) => {
      const text = schemaText();
      return text === null ? [] : find(indexOf(text), words);
    },
  };
}

function find(entries: readonly Entry[], words: string): string[] {
  const given = words
    .toLowerCase()
    .split(/[^a-z0-9_]+/)
    .filter((word) => word !== '');
  const wanted = [...new Set(given)].slice(0, MAX_WORDS);
  if (wanted.length === 0)
    return entries
      .filter(({ isRoot }) => isRoot)
      .map(({ text }) => text)
      .slice(0, MAX_MATCHES);
  return entries
    .map((entry) => ({ entry, score: scoreOf(entry, wanted) }))
    .filter(({ score }) => score > 0)
    .toSorted((one, other) => other.score - one.score)
    .slice(0, MAX_MATCHES)
    .map(({ entry }) => entry.text);
}

/** A name counts more than a description, a whole one most, and what a query can begin with a little more. */
function scoreOf({ key, words, isRoot }: Entry, wanted: readonly string[]): number {
  let score = 0;
  for (const word of wanted) {
    if (key === word || key.endsWith(`.${word}`)) score += 8;
    else if (key.includes(word)) score += 4;
    else if (words.includes(word)) score += 1;
  }
  return score > 0 && isRoot ? score + 0.5 : score;
}

type Composite = ObjectTypeDefinitionNode | InterfaceTypeDefinitionNode;

function buildIndex(sdl: string): Entry[] {
  const { definitions } = parse(sdl, { noLocation: true });
  const roots = rootTypesOf(definitions);
  return definitions.flatMap((definition): Entry[] => {
    switch (definition.kind) {
      case Kind.OBJECT_TYPE_DEFINITION:
      case Kind.INTERFACE_TYPE_DEFINITION:
        return [ofType(definition), ...fieldsOf(definition, roots.has(definition.name.value))];
      case Kind.INPUT_OBJECT_TYPE_DEFINITION:
      case Kind.ENUM_TYPE_DEFINITION:
        return [ofType(definition)];
      default:
        return [];
    }
  });
}

function rootTypesOf(definitions: readonly DefinitionNode[]): ReadonlySet<string> {
  const schema = definitions.find((definition) => definition.kind === Kind.SCHEMA_DEFINITION);
  return new Set(schema?.operationTypes.map(({ type }) => type.name.value) ?? ['Query', 'Mutation']);
}

function fieldsOf({ name, fields = [] }: Composite, isRoot: boolean): Entry[] {
  return fields.map((field) => {
    const about = aboutOf(field);
    return {
      key: `${name.value}.${field.name.value}`.toLowerCase(),
      words: about.toLowerCase(),
      text: `${name.value}.${signature(field)}${about === '' ? '' : ` # ${about}`}`,
      isRoot,
    };
  });
}

function ofType(definition: Composite | InputObjectTypeDefinitionNode | EnumTypeDefinitionNode): Entry {
  const about = aboutOf(definition);
  const members =
    definition.kind === Kind.ENUM_TYPE_DEFINITION
      ? (definition.values ?? []).map(({ name }) => name.value)
      : (definition.fields ?? []).map((field) =>
          field.kind === Kind.FIELD_DEFINITION
            ? signature(field)
            : `${field.name.value}: ${print(field.type)}`,
        );
  return {
    key: definition.name.value.toLowerCase(),
    words: about.toLowerCase(),
    text: `${KEYWORDS[definition.kind]} ${definition.name.value} { ${members.join('; ')} }${about === '' ? '' : ` # ${about}`}`,
    isRoot: false,
  };
}

const KEYWORDS = {
  [Kind.OBJECT_TYPE_DEFINITION]: 'type',
  [Kind.INTERFACE_TYPE_DEFINITION]: 'interface',
  [Kind.INPUT_OBJECT_TYPE_DEFINITION]: 'input',
  [Kind.ENUM_TYPE_DEFINITION]: 'enum',
} as const;

function signature({ name, arguments: given = [], type }: FieldDefinitionNode): string {
  const args = given.map((each) => `${each.name.value}: ${print(each.type)}`);
  return `${name.value}${args.length === 0 ? '' : `(${args.join(', ')})`}: ${print(type)}`;
}

/**
 * On one line, bounded, and without invisible characters, which a model reads and a person doesn't see: it is the upstream's
 * text.
 */
function aboutOf({ description }: { description?: { value: string } | undefined }): string {
  const visible = (description?.value ?? '').replaceAll(/\s+/g, ' ').replaceAll(/\p{C}/gu, '');
  return visible.trim().slice(0, DESCRIPTION_MAX_CHARACTERS);
}
