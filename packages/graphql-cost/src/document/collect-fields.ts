import { Kind } from 'graphql';
import type {
  DirectiveNode,
  FieldNode,
  FragmentDefinitionNode,
  FragmentSpreadNode,
  NamedTypeNode,
  SelectionNode,
  SelectionSetNode,
} from 'graphql';
import type { CostSchema, ObjectType } from '../schema/cost-schema.ts';
import { NoPrice } from './no-price.ts';
import { VariableReference, writtenValue } from './written-value.ts';

export type CollectOptions = {
  schema: CostSchema;
  fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  /** Of the variables in `@skip` and `@include`. */
  conditions: ReadonlyMap<string, boolean>;
};

/** The fields of an object that execution would collect, by response key. @throws {NoPrice} */
export type CollectFields = (
  sets: readonly SelectionSetNode[],
  object: ObjectType,
) => Map<string, [FieldNode, ...FieldNode[]]>;

export function createCollectFields(
  { schema, fragments, conditions }: CollectOptions,
  step: () => void,
): CollectFields {
  function includes({ name: node }: NamedTypeNode, object: ObjectType): boolean {
    const condition = node.value;
    if (condition === object.name) return true;
    const type = schema.types.get(condition);
    if (type === undefined || type.kind === 'leaf')
      throw new NoPrice('invalid', `There is no object, interface or union ${condition}.`, node);
    return type.kind === 'abstract' && type.members.has(object);
  }

  function fragmentOf({ name }: FragmentSpreadNode): FragmentDefinitionNode {
    const fragment = fragments.get(name.value);
    if (fragment === undefined) throw new NoPrice('invalid', `There is no fragment ${name.value}.`, name);
    return fragment;
  }

  return (sets, object) => {
    const fields = new Map<string, [FieldNode, ...FieldNode[]]>();
    const spread = new Set<string>();
    const visit = (selection: SelectionNode): void => {
      step();
      if (!isIncluded(selection.directives, conditions)) return;
      if (selection.kind === Kind.FIELD) {
        const key = (selection.alias ?? selection.name).value;
        const same = fields.get(key);
        if (same === undefined) fields.set(key, [selection]);
        else same.push(selection);
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        const condition = selection.typeCondition;
        if (condition === undefined || includes(condition, object))
          selection.selectionSet.selections.forEach(visit);
      } else if (!spread.has(selection.name.value)) {
        spread.add(selection.name.value);
        const { typeCondition, selectionSet } = fragmentOf(selection);
        if (includes(typeCondition, object)) selectionSet.selections.forEach(visit);
      }
    };
    for (const { selections } of sets) selections.forEach(visit);
    return fields;
  };
}

/** Whether neither `@skip` nor `@include` drops a selection. */
function isIncluded(
  directives: readonly DirectiveNode[] | undefined,
  conditions: ReadonlyMap<string, boolean>,
): boolean {
  if (directives === undefined || directives.length === 0) return true;
  const seen = new Set<string>();
  let keeps = true;
  for (const directive of directives) {
    const name = directive.name.value;
    if (name !== 'skip' && name !== 'include') continue;
    // Servers that don't refuse that differ in which they take.
    const [argument, another] = directive.arguments?.filter((each) => each.name.value === 'if') ?? [];
    if (seen.has(name) || another !== undefined)
      throw new NoPrice('invalid', `@${name} is repeated.`, directive);
    seen.add(name);
    const written = argument === undefined ? undefined : writtenValue(argument.value).value;
    const value = written instanceof VariableReference ? conditions.get(written.name) : written;
    if (typeof value !== 'boolean') throw new NoPrice('invalid', `@${name} needs a Boolean.`, directive);
    keeps &&= value === (name === 'include');
  }
  return keeps;
}
