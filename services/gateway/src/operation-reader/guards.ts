import { Kind } from 'graphql';
import type {
  ASTNode,
  DocumentNode,
  FragmentDefinitionNode,
  OperationDefinitionNode,
  SelectionNode,
} from 'graphql';

/** Bounds on each operation of a document, with the fragments that it uses; 0 for none. */
export type Guards = {
  maxDepth: number;
  maxAliases: number;
  maxRootFields: number;
  maxDirectives: number;
  maxTokens: number;
  introspection: boolean;
};

export type Counted = 'depth' | 'aliases' | 'rootFields' | 'directives' | 'introspection';

/** `node` is the first one beyond the limit. */
export type Exceeded = { counted: Counted; limit: number; found: number; node: ASTNode };

type Counts = Record<Counted, number>;

/** Fragments that spread each other can make exponential numbers. */
const MAX_COUNT = 1_000_000_000;

const ALL_COUNTED: readonly Counted[] = ['depth', 'aliases', 'rootFields', 'directives', 'introspection'];

/**
 * What an operation of the document exceeds; null if nothing. Each fragment is counted once, and its figures are added
 * wherever it is spread. A fragment within itself adds nothing.
 * @throws {RangeError} if the document is nested too deep for the stack
 */
export function exceededGuard(document: DocumentNode, guards: Guards): Exceeded | null {
  const limits: Counts = {
    depth: guards.maxDepth || Infinity,
    aliases: guards.maxAliases || Infinity,
    rootFields: guards.maxRootFields || Infinity,
    directives: guards.maxDirectives || Infinity,
    introspection: guards.introspection ? Infinity : 0,
  };
  const fragments = Map.groupBy(
    document.definitions.filter((node) => node.kind === Kind.FRAGMENT_DEFINITION),
    ({ name }) => name.value,
  );
  const known = new Map<string, Counts>();

  function ofFragment(name: string): Counts {
    const before = known.get(name);
    if (before !== undefined) return before;
    known.set(name, NOTHING);
    // Of two with one name, which is invalid, a server could take either.
    const counts = (fragments.get(name) ?? [])
      .map((fragment) => countDefinition(fragment, ofFragment, () => undefined))
      .reduce(larger, NOTHING);
    known.set(name, counts);
    return counts;
  }

  for (const node of document.definitions) {
    if (node.kind !== Kind.OPERATION_DEFINITION) continue;
    const passed = new Map<Counted, ASTNode>();
    const counts = countDefinition(node, ofFragment, (at, soFar) => {
      for (const counted of ALL_COUNTED) {
        if (soFar[counted] > limits[counted] && !passed.has(counted)) passed.set(counted, at);
      }
    });
    for (const [counted, at] of passed) {
      return { counted, limit: limits[counted], found: counts[counted], node: at };
    }
  }
  return null;
}

const NOTHING: Counts = { depth: 0, aliases: 0, rootFields: 0, directives: 0, introspection: 0 };

function larger(one: Counts, other: Counts): Counts {
  const counts = { ...one };
  for (const counted of ALL_COUNTED) counts[counted] = Math.max(one[counted], other[counted]);
  return counts;
}

/** `onNode` is told the counts up to each selection of the definition, itself included. */
function countDefinition(
  definition: OperationDefinitionNode | FragmentDefinitionNode,
  ofFragment: (name: string) => Counts,
  onNode: (node: ASTNode, soFar: Counts) => void,
): Counts {
  const counts: Counts = { depth: 0, aliases: 0, rootFields: 0, directives: 0, introspection: 0 };
  const add = (counted: Counted, count: number) => {
    counts[counted] = Math.min(counts[counted] + count, MAX_COUNT);
  };
  const visit = (selection: SelectionNode, depth: number): void => {
    add('directives', selection.directives?.length ?? 0);
    switch (selection.kind) {
      case Kind.FIELD: {
        const name = selection.name.value;
        counts.depth = Math.max(counts.depth, depth + 1);
        if (depth === 0) add('rootFields', 1);
        if (selection.alias !== undefined) add('aliases', 1);
        if (name === '__schema' || name === '__type') add('introspection', 1);
        break;
      }
      case Kind.FRAGMENT_SPREAD: {
        const fragment = ofFragment(selection.name.value);
        counts.depth = Math.max(counts.depth, Math.min(depth + fragment.depth, MAX_COUNT));
        if (depth === 0) add('rootFields', fragment.rootFields);
        for (const counted of ['aliases', 'directives', 'introspection'] as const)
          add(counted, fragment[counted]);
        break;
      }
      case Kind.INLINE_FRAGMENT:
    }
    onNode(selection, counts);
    if (selection.kind === Kind.FRAGMENT_SPREAD) return;
    const below = selection.kind === Kind.FIELD ? depth + 1 : depth;
    for (const each of selection.selectionSet?.selections ?? []) visit(each, below);
  };
  add('directives', definition.directives?.length ?? 0);
  if (definition.kind === Kind.OPERATION_DEFINITION) {
    for (const { directives } of definition.variableDefinitions ?? [])
      add('directives', directives?.length ?? 0);
  }
  onNode(definition, counts);
  for (const selection of definition.selectionSet.selections) visit(selection, 0);
  return counts;
}
