import { Kind } from 'graphql';
import type {
  DefinitionNode,
  DirectiveNode,
  DocumentNode,
  SelectionNode,
  SelectionSetNode,
  TypeNode,
  ValueNode,
  VariableDefinitionNode,
} from 'graphql';

/**
 * The text of a document without anything that a caller fills in: strings, numbers, booleans, enum values, lists and
 * objects are replaced, and comments and descriptions left out. Documents that differ only in these, in blanks or in the
 * order of their definitions have the same text, and it is still GraphQL. Names stay.
 */
export function normalizedText({ definitions }: DocumentNode): string {
  return definitions.map(definitionText).toSorted().join('\n');
}

function definitionText(node: DefinitionNode): string {
  switch (node.kind) {
    case Kind.OPERATION_DEFINITION: {
      const name = node.name === undefined ? '' : ` ${node.name.value}`;
      const variables = node.variableDefinitions ?? [];
      const declared = variables.length === 0 ? '' : `(${variables.map(variableText).join(', ')})`;
      return `${node.operation}${name}${declared}${directivesText(node.directives)}${selectionsText(node.selectionSet, '')}`;
    }
    case Kind.FRAGMENT_DEFINITION: {
      const { name, typeCondition, directives, selectionSet } = node;
      return `fragment ${name.value} on ${typeCondition.name.value}${directivesText(directives)}${selectionsText(selectionSet, '')}`;
    }
    default:
      // Servers refuse to run definitions of types.
      return '';
  }
}

function variableText({ variable, type, defaultValue, directives }: VariableDefinitionNode): string {
  const value = defaultValue === undefined ? '' : ` = ${valueText(defaultValue)}`;
  return `$${variable.name.value}: ${typeText(type)}${value}${directivesText(directives)}`;
}

function typeText(type: TypeNode): string {
  switch (type.kind) {
    case Kind.NAMED_TYPE:
      return type.name.value;
    case Kind.LIST_TYPE:
      return `[${typeText(type.type)}]`;
    case Kind.NON_NULL_TYPE:
      return `${typeText(type.type)}!`;
  }
}

type Argument = { name: { value: string }; value: ValueNode };

function argumentsText(all: readonly Argument[] | undefined): string {
  if (all === undefined || all.length === 0) return '';
  return `(${all.map(({ name, value }) => `${name.value}: ${valueText(value)}`).join(', ')})`;
}

function directivesText(all: readonly DirectiveNode[] | undefined): string {
  return (all ?? []).map(({ name, arguments: given }) => ` @${name.value}${argumentsText(given)}`).join('');
}

function valueText(value: ValueNode): string {
  switch (value.kind) {
    case Kind.VARIABLE:
      return `$${value.name.value}`;
    case Kind.INT:
    case Kind.FLOAT:
      return '0';
    case Kind.STRING:
      return '""';
    case Kind.BOOLEAN:
      return 'true';
    case Kind.NULL:
      return 'null';
    case Kind.ENUM:
      return 'VALUE';
    case Kind.LIST:
      return '[]';
    case Kind.OBJECT:
      return '{}';
  }
}

/** Deeper levels aren't indented further: a short document of a thousand levels would have a text of megabytes. */
const MAX_INDENT = 100;

function selectionsText(set: SelectionSetNode | undefined, indent: string): string {
  if (set === undefined) return '';
  const inner = indent.length < MAX_INDENT ? `${indent}  ` : indent;
  let text = ' {\n';
  for (const selection of set.selections) text += `${inner}${selectionText(selection, inner)}\n`;
  return `${text}${indent}}`;
}

function selectionText(node: SelectionNode, indent: string): string {
  switch (node.kind) {
    case Kind.FIELD: {
      const alias = node.alias === undefined ? '' : `${node.alias.value}: `;
      return `${alias}${node.name.value}${argumentsText(node.arguments)}${directivesText(node.directives)}${selectionsText(node.selectionSet, indent)}`;
    }
    case Kind.FRAGMENT_SPREAD:
      return `...${node.name.value}${directivesText(node.directives)}`;
    case Kind.INLINE_FRAGMENT: {
      const on = node.typeCondition === undefined ? '' : ` on ${node.typeCondition.name.value}`;
      return `...${on}${directivesText(node.directives)}${selectionsText(node.selectionSet, indent)}`;
    }
  }
}
