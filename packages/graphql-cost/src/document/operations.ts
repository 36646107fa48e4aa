import { Kind } from 'graphql';
import type {
  DirectiveNode,
  DocumentNode,
  FragmentDefinitionNode,
  OperationDefinitionNode,
  SelectionNode,
  VariableDefinitionNode,
} from 'graphql';
import { NoPrice } from './no-price.ts';
import { writtenValue } from './written-value.ts';

/** What an operation declares. */
export type Declared = {
  name: string | undefined;
  variables: ReadonlyMap<string, { isRequired: boolean; default: unknown }>;
  /** Why the declarations can't be read. */
  fault: NoPrice | null;
};

export function operationsOf({ definitions }: DocumentNode): OperationDefinitionNode[] {
  return definitions.filter((node) => node.kind === Kind.OPERATION_DEFINITION);
}

/** @throws {NoPrice} */
export function fragmentsOf({ definitions }: DocumentNode): Map<string, FragmentDefinitionNode> {
  const fragments = definitions.filter((node) => node.kind === Kind.FRAGMENT_DEFINITION);
  const byName = new Map(fragments.map((fragment) => [fragment.name.value, fragment]));
  // Servers that don't refuse that differ in which they take.
  if (byName.size < fragments.length) throw new NoPrice('invalid', 'The name of a fragment is repeated.');
  return byName;
}

export function declaredBy({ name, variableDefinitions = [] }: OperationDefinitionNode): Declared {
  const declared = { name: name?.value };
  try {
    const variables = variablesIn(variableDefinitions);
    if (variables.size === variableDefinitions.length) return { ...declared, variables, fault: null };
    throw new NoPrice('invalid', 'A variable is declared twice.');
  } catch (fault) {
    if (fault instanceof NoPrice) return { ...declared, variables: new Map(), fault };
    throw fault;
  }
}

/** @throws {NoPrice} */
function variablesIn(definitions: readonly VariableDefinitionNode[]): Declared['variables'] {
  const variables = definitions.map(
    ({ variable, type, defaultValue }) =>
      [
        variable.name.value,
        {
          isRequired: type.kind === Kind.NON_NULL_TYPE,
          default: defaultValue && writtenValue(defaultValue).value,
        },
      ] as const,
  );
  return new Map(variables);
}

/**
 * The values of an operation's variables, with their defaults; others have none.
 * @throws {NoPrice} invalid if one is missing
 */
export function variableValues({ variables, fault }: Declared, sent: unknown): (name: string) => unknown {
  if (fault !== null) throw fault;
  const values = sent ?? {};
  if (typeof values !== 'object' || Array.isArray(values))
    throw new NoPrice('invalid', 'The variables must be an object.');
  const valueOf = (name: string): unknown => {
    const declared = variables.get(name);
    if (declared === undefined) return undefined;
    return Object.hasOwn(values, name) ? (values as Record<string, unknown>)[name] : declared.default;
  };
  for (const [name, { isRequired }] of variables) {
    if (isRequired && (valueOf(name) ?? null) === null)
      throw new NoPrice('invalid', `The variable $${name} needs a value.`);
  }
  return valueOf;
}

/** The variables in the `@skip` and `@include` of a document. */
export function conditionVariables({ definitions }: DocumentNode): string[] {
  const names = new Set<string>();
  const read = (directives: readonly DirectiveNode[] | undefined) => {
    for (const directive of directives ?? []) {
      if (directive.name.value !== 'skip' && directive.name.value !== 'include') continue;
      for (const { value } of directive.arguments ?? [])
        if (value.kind === Kind.VARIABLE) names.add(value.name.value);
    }
  };
  const visit = (selection: SelectionNode): void => {
    read(selection.directives);
    if (selection.kind !== Kind.FRAGMENT_SPREAD) selection.selectionSet?.selections.forEach(visit);
  };
  for (const definition of definitions)
    if ('selectionSet' in definition) definition.selectionSet.selections.forEach(visit);
  return [...names];
}
