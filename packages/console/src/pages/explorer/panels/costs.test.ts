import { expect, test } from '@jest/globals';
import { buildSchema } from 'graphql';
import { costTexts } from './costs.ts';
import type { SchemaCosts } from './costs.ts';
import { schemaTexts } from './fields.ts';

const TEXTS = schemaTexts(
  buildSchema(`
    input Filter { exact: Boolean name: String }
    interface Node { id: ID }
    type Query {
      users(filter: Filter, first: Int, last: Int): [User!]!
      films(first: Int): Films
      me: User
      pages(first: Int = 20): [User]
      given(first: Int!): [User]
      nodes: [Node]
      open: [User]
      tags: [String!]
      count: Int
    }
    type Films { edges: [User] total: Int }
    type User implements Node { id: ID name: String }
  `),
);

const COSTS: SchemaCosts = {
  weights: {
    'Query.users': 1,
    'Query.users(filter:)': 0.5,
    'Query.users(last:)': -3,
    'Query.me': 0.1,
    'Query.films': 1,
    User: 0.2,
    Node: 0.2,
    'Filter.exact': 2,
  },
  list_sizes: {
    'Query.users': { slicing_arguments: ['first', 'last'], assumed_size: 7, sized_fields: [] },
    'Query.films': { slicing_arguments: ['first'], assumed_size: null, sized_fields: ['edges'] },
    'Query.pages': { slicing_arguments: ['first'], assumed_size: null, sized_fields: [] },
    'Query.given': { slicing_arguments: ['first'], assumed_size: null, sized_fields: [] },
    'Query.nodes': { slicing_arguments: [], assumed_size: 1, sized_fields: [] },
  },
  list_size: 25,
};

const words = costTexts(COSTS, TEXTS);

function ofField(coordinate: string): readonly string[] | undefined {
  const [typeName, name] = coordinate.split('.');
  const type = TEXTS.types.find((each) => each.name === typeName);
  const field = type?.fields.find((each) => each.name === name);
  return type && field && words.ofField(type, field);
}

test.each([
  [
    'Query.users',
    [
      '1 point, and 0.2 points for each User',
      'List length: the largest of first, last, else 7',
      'With filter: +0.5 points',
      'With last: −3 points',
    ],
  ],
  ['Query.films', ['1 point', 'List length of edges: first, else 25']],
  ['Query.pages', ['0.2 points for each User', 'List length: first']],
  ['Query.given', ['0.2 points for each User', 'List length: first']],
  // Not 0.30000000000000004.
  ['Query.me', ['0.3 points']],
  ['Query.nodes', ['0.2 points for each Node', 'List length: 1']],
  ['Query.open', ['0.2 points for each User', 'List length: counted as 25']],
  ['Query.tags', ['0 points']],
  ['Query.count', ['0 points']],
  ['Films.edges', ['0.2 points for each User', 'List length: as a field above it says, else 25']],
  ['Filter.exact', ['2 points']],
  ['Filter.name', []],
  // It depends on the object.
  ['Node.id', []],
])('the field %s', (coordinate, lines) => {
  expect(ofField(coordinate)).toEqual(lines);
});

test.each([
  ['User', '0.2 points each'],
  ['Node', 'Up to 0.2 points each'],
  ['Films', null],
  ['Filter', null],
])('the type %s', (name, text) => {
  const type = TEXTS.types.find((each) => each.name === name);
  expect(type && words.ofType(type)).toBe(text);
});
