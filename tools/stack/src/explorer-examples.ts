/** Examples for the sample API (EXPLORER_EXAMPLES): docker-compose.yml and the chart's demo values have the same. */
export const EXPLORER_EXAMPLES = [
  {
    name: 'A country',
    query: '{\n  country(code: "CH") {\n    name\n    capital\n    languages {\n      name\n    }\n  }\n}',
  },
  {
    name: 'Countries of a continent',
    query:
      '{\n  countries(filter: { continent: "SA", language: "es" }, first: 10) {\n    name\n    capital\n  }\n}',
  },
  {
    name: 'A subscription',
    query: 'subscription {\n  countryOfTheMoment(intervalMs: 1000, times: 5) {\n    emoji\n    name\n  }\n}',
  },
];
