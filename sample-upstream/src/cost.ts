import {
  getArgumentValues,
  getDirectiveValues,
  getNamedType,
  getNullableType,
  getOperationAST,
  getVariableValues,
  GraphQLError,
  GraphQLIncludeDirective,
  GraphQLSkipDirective,
  isListType,
  isObjectType,
  Kind,
} from 'graphql';
import type {
  DocumentNode,
  FieldNode,
  GraphQLObjectType,
  GraphQLSchema,
  SelectionNode,
  SelectionSetNode,
} from 'graphql';
import { ARGUMENT_BOUNDS, MAX_DEPTH, MAX_OPERATION_POINTS, UNPAGED_LIST_SIZE } from './bounds.ts';

export type PricedOperation = {
  schema: GraphQLSchema;
  /** Has passed validation. */
  document: DocumentNode;
  operationName?: string | null | undefined;
  variableValues?: Readonly<Record<string, unknown>> | null | undefined;
};

/** For introspection, and invalid or refused queries, which aren't executed. */
export const MINIMUM_POINTS = 1;

export type Price = {
  points: number;
  /** Set if the operation may not be executed. */
  refusal?: GraphQLError;
};

/**
 * Points, known before execution: one for each field and object that the operation may return, at least 1. A
 * list counts `first` objects, or UNPAGED_LIST_SIZE. Merged fields count once; skipped ones, introspection
 * and `__typename` don't count. A subscription's price is per event. Refused operations cost 1 point.
 */
export function priceOf({ schema, document, operationName, variableValues }: PricedOperation): Price {
  const operation = getOperationAST(document, operationName) ?? undefined;
  const rootType = operation === undefined ? undefined : schema.getRootType(operation.operation);
  // The executor reports an unknown operation or variables that don't fit.
  if (operation === undefined || !isObjectType(rootType)) return { points: MINIMUM_POINTS };
  const variables = getVariableValues(schema, operation.variableDefinitions ?? [], variableValues ?? {});
  if (variables.coerced === undefined) return { points: MINIMUM_POINTS };
  const walk: Walk = { fragments: fragmentsOf(document), variables: variables.coerced, points: 0 };
  try {
    addFields(walk, { type: rootType, selectionSets: [operation.selectionSet], copies: 1, depth: 1 });
    return { points: Math.max(MINIMUM_POINTS, walk.points) };
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    return { points: MINIMUM_POINTS, refusal: error };
  }
}

type Walk = {
  fragments: ReadonlyMap<string, SelectionSetNode>;
  variables: Record<string, unknown>;
  points: number;
};

type Level = {
  type: GraphQLObjectType;
  /** Several if fields with the same response key are merged. */
  selectionSets: readonly SelectionSetNode[];
  /** How many objects have these fields, at most. */
  copies: number;
  depth: number;
};

/** Every field adds at least a point, so the limit also bounds the work that a hostile query causes here. */
function addFields(walk: Walk, { type, selectionSets, copies, depth }: Level): void {
  if (depth > MAX_DEPTH) {
    throw refused('QUERY_TOO_DEEP', `Fields may nest ${String(MAX_DEPTH)} deep at most`);
  }
  for (const nodes of mergedFields(walk, selectionSets).values()) {
    const node = nodes[0];
    const field = node === undefined ? undefined : type.getFields()[node.name.value];
    // Introspection fields aren't among the type's own.
    if (node === undefined || field === undefined) continue;
    walk.points += copies;
    if (walk.points > MAX_OPERATION_POINTS) {
      throw refused(
        'QUERY_TOO_EXPENSIVE',
        `A query may cost ${String(MAX_OPERATION_POINTS)} points at most; ask for fewer objects or fields`,
      );
    }
    const { first } = checkedArguments(getArgumentValues(field, node, walk.variables));
    const fieldType = getNamedType(field.type);
    if (!isObjectType(fieldType)) continue;
    const size = isListType(getNullableType(field.type)) ? (first ?? UNPAGED_LIST_SIZE) : 1;
    if (size === 0) continue;
    addFields(walk, {
      type: fieldType,
      selectionSets: nodes.flatMap(({ selectionSet }) => selectionSet ?? []),
      copies: copies * size,
      depth: depth + 1,
    });
  }
}

/** By response key, with fragments resolved, as the executor collects them (GraphQL, section 6.3.2). */
function mergedFields(walk: Walk, selectionSets: readonly SelectionSetNode[]): Map<string, FieldNode[]> {
  const merged = new Map<string, FieldNode[]>();
  const spread = new Set<string>();
  const collect = (selectionSet: SelectionSetNode | undefined): void => {
    for (const selection of selectionSet?.selections ?? []) {
      if (!isIncluded(selection, walk.variables)) continue;
      switch (selection.kind) {
        case Kind.FIELD: {
          const key = selection.alias?.value ?? selection.name.value;
          merged.set(key, [...(merged.get(key) ?? []), selection]);
          break;
        }
        // The schema has only object types, so a valid fragment's type is the current one.
        case Kind.INLINE_FRAGMENT:
          collect(selection.selectionSet);
          break;
        case Kind.FRAGMENT_SPREAD:
          if (spread.has(selection.name.value)) break;
          spread.add(selection.name.value);
          collect(walk.fragments.get(selection.name.value));
          break;
      }
    }
  };
  selectionSets.forEach(collect);
  return merged;
}

function isIncluded(selection: SelectionNode, variables: Record<string, unknown>): boolean {
  return (
    getDirectiveValues(GraphQLSkipDirective, selection, variables)?.['if'] !== true &&
    getDirectiveValues(GraphQLIncludeDirective, selection, variables)?.['if'] !== false
  );
}

/** Throws if an argument is out of bounds. */
function checkedArguments(values: Record<string, unknown>): { first?: number } {
  const checked: Partial<Record<string, number>> = {};
  for (const [name, { min, max }] of Object.entries(ARGUMENT_BOUNDS)) {
    const value = values[name];
    if (typeof value !== 'number') continue;
    if (value < min || value > max) {
      throw refused('ARGUMENT_OUT_OF_BOUNDS', `"${name}" must be from ${String(min)} to ${String(max)}`);
    }
    checked[name] = value;
  }
  return checked;
}

function fragmentsOf(document: DocumentNode): Map<string, SelectionSetNode> {
  return new Map(
    document.definitions.flatMap((definition) =>
      definition.kind === Kind.FRAGMENT_DEFINITION
        ? [[definition.name.value, definition.selectionSet] as const]
        : [],
    ),
  );
}

function refused(code: string, message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code } });
}
