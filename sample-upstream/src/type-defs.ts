import { ARGUMENT_BOUNDS, MAX_OPERATION_POINTS, UNPAGED_LIST_SIZE } from './bounds.ts';

const { first, offset, intervalMs, times } = ARGUMENT_BOUNDS;
const FIRST = `"How many to return at most, ${String(first.min)} to ${String(first.max)}. The price follows it."`;
const OFFSET = `"How many to skip, up to ${String(offset.max)}."`;

/** The costs are those of cost.ts, by the directives of IBM's GraphQL Cost Directives specification. */
export const typeDefs = /* GraphQL */ `
  "What the field or argument weighs."
  directive @cost(weight: String!) on ARGUMENT_DEFINITION | FIELD_DEFINITION
  "How many items the list has at most."
  directive @listSize(assumedSize: Int, slicingArguments: [String!]) on FIELD_DEFINITION

  """
  The countries of the world, their continents and languages. A query costs one point for each field it may
  return, ${String(MAX_OPERATION_POINTS)} points at most; introspection and invalid queries cost one point.
  """
  schema {
    query: Query
    subscription: Subscription
  }

  "Where every query starts."
  type Query {
    "Countries by name, those that meet every condition of the filter."
    countries(
      "Which countries; all of them without a filter."
      filter: CountryFilter @cost(weight: "0")
      ${FIRST}
      first: Int! = 20
      ${OFFSET}
      offset: Int! = 0
    ): [Country!]! @listSize(slicingArguments: ["first"])
    "One country; null where the code is unknown."
    country(
      "ISO 3166-1 alpha-2, for instance \`CH\`."
      code: ID!
    ): Country
    "The continents."
    continents(
      ${FIRST}
      first: Int! = 7
      ${OFFSET}
      offset: Int! = 0
    ): [Continent!]! @listSize(slicingArguments: ["first"])
    "One continent; null where the code is unknown."
    continent(
      "Two letters, for instance \`EU\`."
      code: ID!
    ): Continent
    "Languages by code."
    languages(
      ${FIRST}
      first: Int! = 20
      ${OFFSET}
      offset: Int! = 0
    ): [Language!]! @listSize(slicingArguments: ["first"])
    "One language; null where the code is unknown."
    language(
      "ISO 639-1, for instance \`is\`."
      code: ID!
    ): Language
  }

  "Where every subscription starts."
  type Subscription {
    "Countries in random order, one at once and then one per interval."
    countryOfTheMoment(
      "Milliseconds between two countries, ${String(intervalMs.min)} to ${String(intervalMs.max)}."
      intervalMs: Int! = 1000
      "After how many countries the subscription ends by itself, ${String(times.min)} to ${String(times.max)}."
      times: Int! = ${String(times.max)}
    ): Country!
  }

  "Conditions on countries; a country has to meet all that are given."
  input CountryFilter {
    "The code of a continent."
    continent: ID
    "The code of a language that is spoken there."
    language: ID
    "A part of the English or the native name, in either case."
    nameContains: String
  }

  "A country or territory with an ISO 3166-1 code."
  type Country {
    "ISO 3166-1 alpha-2."
    code: ID! @cost(weight: "1")
    "English name."
    name: String! @cost(weight: "1")
    "Name in the country's own language."
    native: String! @cost(weight: "1")
    "English name of the capital; null where there is none."
    capital: String @cost(weight: "1")
    "The flag as an emoji."
    emoji: String! @cost(weight: "1")
    "International calling codes, for instance \`+41\`."
    phone: [String!]! @cost(weight: "1")
    "ISO 4217 codes of the currencies."
    currencies: [String!]! @cost(weight: "1")
    "The main continent."
    continent: Continent!
    "Languages spoken there, the most important first; ten at most."
    languages: [Language!]! @listSize(assumedSize: ${String(UNPAGED_LIST_SIZE)})
  }

  "A continent."
  type Continent {
    "Two letters."
    code: ID! @cost(weight: "1")
    "English name."
    name: String! @cost(weight: "1")
    "Its countries by name."
    countries(
      ${FIRST}
      first: Int! = 20
      ${OFFSET}
      offset: Int! = 0
    ): [Country!]! @listSize(slicingArguments: ["first"])
  }

  "A language with an ISO 639-1 code."
  type Language {
    "ISO 639-1."
    code: ID! @cost(weight: "1")
    "English name."
    name: String! @cost(weight: "1")
    "Name in the language itself."
    native: String! @cost(weight: "1")
    "Whether it is written from right to left."
    rightToLeft: Boolean! @cost(weight: "1")
    "Countries by name in which it is spoken."
    countries(
      ${FIRST}
      first: Int! = 20
      ${OFFSET}
      offset: Int! = 0
    ): [Country!]! @listSize(slicingArguments: ["first"])
  }
`;
