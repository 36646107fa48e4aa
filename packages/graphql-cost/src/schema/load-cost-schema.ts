import { Kind, parse, valueFromASTUntyped } from 'graphql';
import type {
  ConstDirectiveNode,
  DefinitionNode,
  DocumentNode,
  FieldDefinitionNode,
  InputValueDefinitionNode,
  NamedTypeNode,
  TypeNode,
} from 'graphql';
import { fromPoints } from '../thousandths.ts';
import { NO_COSTS } from './costs-file.ts';
import type { StatedCosts } from './costs-file.ts';
import type {
  AbstractType,
  CostSchema,
  Field,
  Input,
  InputType,
  Leaf,
  ObjectType,
  OutputType,
} from './cost-schema.ts';
import { directiveNames } from './directive-names.ts';
import { createStatedCosts } from './stated-costs.ts';
import type { Stated } from './stated-costs.ts';

/** Weights in points of what has none of its own; leaves weigh 0. */
export type CostDefaults = {
  /** A field that returns objects. */
  field: number;
  /** An argument or input field that takes an input object. */
  input: number;
  type: number;
  rootType: number;
};

export type CostPreset = 'ibm' | 'apollo';

/** docs/design/price.md. */
export const COST_PRESETS: Readonly<Record<CostPreset, CostDefaults>> = {
  ibm: { field: 1, input: 1, type: 0, rootType: 0 },
  apollo: { field: 0, input: 1, type: 1, rootType: 0 },
};

export type CostSchemaOptions = {
  defaults: CostDefaults;
  /** Items of a list whose size nothing tells. */
  listSize: number;
  /** Wins over the directives. */
  costs?: StatedCosts;
};

export type LoadedCostSchema = {
  schema: CostSchema;
  /** Directives that are ignored. */
  warnings: readonly string[];
  /** Coordinates that the file of weights has, and the schema hasn't. */
  unknownNames: readonly string[];
  /** Coordinates of lists whose size doesn't change the price, because nothing below them weighs anything. */
  flatLists: readonly string[];
};

/** Faults of a schema's costs, each with its schema coordinate. */
export class CostSchemaError extends Error {
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(faults.join('; '));
    this.faults = faults;
  }
}

/**
 * Reads the costs that a schema states by `@cost` and `@listSize` (IBM's GraphQL Cost Directives specification).
 * @throws {CostSchemaError}; {GraphQLError} if the text doesn't parse
 */
export function loadCostSchema(sdl: string, options: CostSchemaOptions): LoadedCostSchema {
  const document = parse(sdl, { noLocation: true });
  const names = directiveNames(document);
  const stated = createStatedCosts(names, options.costs ?? NO_COSTS);
  const builder = createBuilder(document, stated, options);
  const schema = builder.build();
  const faults = [...builder.faults, ...stated.faults];
  if (faults.length > 0) throw new CostSchemaError(faults);
  const { warnings } = stated;
  return { schema, warnings, unknownNames: stated.unused(), flatLists: flatLists(schema) };
}

const BUILT_IN_SCALARS = ['Int', 'Float', 'String', 'Boolean', 'ID'];

type Definitions = Map<string, DefinitionNode[]>;

function createBuilder(document: DocumentNode, stated: Stated, { defaults, listSize }: CostSchemaOptions) {
  const faults: string[] = [];
  const definitions = byTypeName(document);
  const rootNames = rootNamesOf(document, definitions);
  const roots = new Set(Object.values(rootNames));
  const types = new Map<string, OutputType>();
  const inputTypes = new Map<string, Leaf | InputType>();
  const directives = new Map<string, Map<string, Input>>();

  const weight = (coordinate: string, nodes: Annotated[], fallback: number, mayBeNegative = false) =>
    stated.weight(coordinate, directivesOf(nodes), mayBeNegative) ?? fromPoints(fallback);

  function declare(name: string, nodes: DefinitionNode[]): void {
    switch (nodes[0]?.kind) {
      case Kind.SCALAR_TYPE_DEFINITION:
      case Kind.SCALAR_TYPE_EXTENSION:
      case Kind.ENUM_TYPE_DEFINITION:
      case Kind.ENUM_TYPE_EXTENSION: {
        const leaf: Leaf = { kind: 'leaf', name, weight: weight(name, nodes as Annotated[], 0) };
        types.set(name, leaf);
        inputTypes.set(name, leaf);
        break;
      }
      case Kind.OBJECT_TYPE_DEFINITION:
      case Kind.OBJECT_TYPE_EXTENSION: {
        const fallback = roots.has(name) ? defaults.rootType : defaults.type;
        const own = weight(name, nodes as Annotated[], fallback);
        types.set(name, { kind: 'object', name, weight: own, fields: new Map() });
        break;
      }
      case Kind.INTERFACE_TYPE_DEFINITION:
      case Kind.INTERFACE_TYPE_EXTENSION:
      case Kind.UNION_TYPE_DEFINITION:
      case Kind.UNION_TYPE_EXTENSION:
        stated.ignore(name, directivesOf(nodes as Annotated[]));
        types.set(name, { kind: 'abstract', name, weight: 0, members: new Set() });
        break;
      case Kind.INPUT_OBJECT_TYPE_DEFINITION:
      case Kind.INPUT_OBJECT_TYPE_EXTENSION:
        inputTypes.set(name, { kind: 'input', name, fields: new Map() });
        break;
      // Directives are read below; nothing else has a type's name.
      default:
    }
  }

  function inputsOf(
    nodes: readonly InputValueDefinitionNode[] | undefined,
    coordinateOf: (name: string) => string,
  ): Map<string, Input> {
    const inputs = new Map<string, Input>();
    for (const node of nodes ?? []) {
      const coordinate = coordinateOf(node.name.value);
      const typeName = namedType(node.type);
      const type = inputTypes.get(typeName);
      if (type === undefined) {
        faults.push(`${coordinate}: there is no input type ${typeName}`);
        continue;
      }
      const own = weight(coordinate, [node], type.kind === 'input' ? defaults.input : 0, true);
      inputs.set(node.name.value, {
        weight: own,
        type,
        isList: isList(node.type),
        default: node.defaultValue && valueFromASTUntyped(node.defaultValue),
        weighs: own !== 0,
      });
    }
    return inputs;
  }

  function fieldOf(typeName: string, node: FieldDefinitionNode): Field | null {
    const coordinate = `${typeName}.${node.name.value}`;
    const returned = namedType(node.type);
    const type = types.get(returned);
    if (type === undefined) {
      faults.push(`${coordinate}: there is no output type ${returned}`);
      return null;
    }
    const args = inputsOf(node.arguments, (name) => `${coordinate}(${name}:)`);
    const field: Field = {
      weight: weight(coordinate, [node], type.kind === 'leaf' ? 0 : defaults.field),
      arguments: args,
      type,
      isList: isList(node.type),
      size: null,
    };
    return field;
  }

  function describe(name: string, nodes: DefinitionNode[]): void {
    const type = types.get(name);
    const input = inputTypes.get(name);
    for (const node of nodes) {
      if (type?.kind === 'object' && 'fields' in node) {
        for (const each of (node.fields ?? []) as FieldDefinitionNode[]) {
          const field = fieldOf(name, each);
          if (field !== null) type.fields.set(each.name.value, field);
        }
        for (const { name: implemented } of interfacesOf(node)) {
          const abstract = types.get(implemented.value);
          if (abstract?.kind === 'abstract') addMember(abstract, type);
          else faults.push(`${name}: there is no interface ${implemented.value}`);
        }
      } else if (type?.kind === 'abstract' && 'types' in node) {
        for (const { name: member } of node.types ?? []) {
          const object = types.get(member.value);
          if (object?.kind === 'object') addMember(type, object);
          else faults.push(`${name}: there is no object type ${member.value}`);
        }
      } else if (type?.kind === 'abstract' && 'fields' in node) {
        for (const each of (node.fields ?? []) as FieldDefinitionNode[])
          stated.ignore(`${name}.${each.name.value}`, directivesOf([each]));
      } else if (input?.kind === 'input' && 'fields' in node) {
        const fields = inputsOf(node.fields as InputValueDefinitionNode[], (field) => `${name}.${field}`);
        for (const [field, value] of fields) input.fields.set(field, value);
      }
    }
  }

  /** When all types and arguments are known. */
  function addSizes(name: string, nodes: DefinitionNode[]): void {
    const type = types.get(name);
    if (type?.kind !== 'object') return;
    for (const node of nodes) {
      if (!('fields' in node)) continue;
      for (const each of (node.fields ?? []) as FieldDefinitionNode[]) {
        const field = type.fields.get(each.name.value);
        if (field !== undefined)
          field.size = stated.size(`${name}.${each.name.value}`, each.directives ?? [], field);
      }
    }
  }

  function rootOf(kind: keyof CostSchema['roots']): Partial<CostSchema['roots']> {
    const name = rootNames[kind];
    if (name === undefined) return {};
    const type = types.get(name);
    if (type?.kind === 'object') return { [kind]: type };
    faults.push(`${kind}: there is no object type ${name}`);
    return {};
  }

  return {
    faults,
    build: (): CostSchema => {
      for (const name of BUILT_IN_SCALARS) {
        const leaf: Leaf = { kind: 'leaf', name, weight: 0 };
        types.set(name, leaf);
        inputTypes.set(name, leaf);
      }
      for (const [name, nodes] of definitions) declare(name, nodes);
      for (const node of document.definitions) {
        if (node.kind !== Kind.DIRECTIVE_DEFINITION) continue;
        const name = node.name.value;
        directives.set(
          name,
          inputsOf(node.arguments, (argument) => `@${name}(${argument}:)`),
        );
      }
      for (const [name, nodes] of definitions) describe(name, nodes);
      for (const [name, nodes] of definitions) addSizes(name, nodes);
      markWeighing(types, inputTypes, directives);
      const schemaRoots = Object.assign({}, ...ROOT_KINDS.map(rootOf)) as CostSchema['roots'];
      return { roots: schemaRoots, types, inputTypes, directives, listSize };
    },
  };
}

const ROOT_KINDS = ['query', 'mutation', 'subscription'] as const;

type Annotated = { directives?: readonly ConstDirectiveNode[] | undefined };

function directivesOf(nodes: readonly Annotated[]): ConstDirectiveNode[] {
  return nodes.flatMap(({ directives }) => directives ?? []);
}

function addMember(abstract: AbstractType, member: ObjectType): void {
  abstract.members.add(member);
  abstract.weight = Math.max(abstract.weight, member.weight);
}

function interfacesOf(node: object): readonly NamedTypeNode[] {
  return 'interfaces' in node ? (node.interfaces as readonly NamedTypeNode[]) : [];
}

/** With their extensions. */
function byTypeName({ definitions }: DocumentNode): Definitions {
  const types = definitions.filter(
    (node) => node.kind.endsWith('TypeDefinition') || node.kind.endsWith('TypeExtension'),
  );
  return Map.groupBy(types, (node) => ('name' in node ? node.name.value : ''));
}

function rootNamesOf(
  { definitions }: DocumentNode,
  types: Definitions,
): Partial<Record<keyof CostSchema['roots'], string>> {
  const declared = definitions.flatMap((node) =>
    node.kind === Kind.SCHEMA_DEFINITION || node.kind === Kind.SCHEMA_EXTENSION
      ? (node.operationTypes ?? [])
      : [],
  );
  if (declared.length > 0) {
    return Object.fromEntries(declared.map(({ operation, type }) => [operation, type.name.value]));
  }
  const usual = { query: 'Query', mutation: 'Mutation', subscription: 'Subscription' };
  return Object.fromEntries(Object.entries(usual).filter(([, name]) => types.has(name)));
}

function namedType(type: TypeNode): string {
  return type.kind === Kind.NAMED_TYPE ? type.name.value : namedType(type.type);
}

function isList(type: TypeNode): boolean {
  return type.kind === Kind.LIST_TYPE || (type.kind === Kind.NON_NULL_TYPE && isList(type.type));
}

/** Until nothing changes, since input types may contain each other. */
function markWeighing(
  types: ReadonlyMap<string, OutputType>,
  inputTypes: ReadonlyMap<string, Leaf | InputType>,
  directives: ReadonlyMap<string, ReadonlyMap<string, Input>>,
): void {
  const inputs = [...inputTypes.values()].flatMap((type) =>
    type.kind === 'input' ? [...type.fields.values()] : [],
  );
  for (const type of types.values()) {
    if (type.kind !== 'object') continue;
    for (const field of type.fields.values()) inputs.push(...field.arguments.values());
  }
  for (const args of directives.values()) inputs.push(...args.values());
  let changed = true;
  while (changed) {
    changed = false;
    for (const input of inputs) {
      if (input.weighs || input.type.kind === 'leaf') continue;
      input.weighs = [...input.type.fields.values()].some(({ weighs }) => weighs);
      changed ||= input.weighs;
    }
  }
}

function flatLists({ types }: CostSchema): string[] {
  const weighing = new Set<OutputType>();
  const weighs = (type: OutputType) => weighing.has(type);
  let before = -1;
  while (weighing.size > before) {
    before = weighing.size;
    for (const type of types.values()) if (isWeighing(type, weighs)) weighing.add(type);
  }
  return [...types.values()].flatMap((type) =>
    type.kind !== 'object'
      ? []
      : [...type.fields].flatMap(([name, field]) =>
          field.isList && field.type.kind !== 'leaf' && !weighs(field.type) ? [`${type.name}.${name}`] : [],
        ),
  );
}

function isWeighing(type: OutputType, weighs: (type: OutputType) => boolean): boolean {
  switch (type.kind) {
    case 'leaf':
      return type.weight > 0;
    case 'object': {
      const fields = [...type.fields.values()];
      return type.weight > 0 || fields.some((field) => field.weight > 0 || weighs(field.type));
    }
    case 'abstract':
      return [...type.members].some(weighs);
  }
}
