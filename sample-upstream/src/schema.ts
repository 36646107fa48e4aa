import { createSchema } from 'graphql-yoga';
import {
  allContinents,
  allLanguages,
  findContinent,
  findCountry,
  findLanguage,
  selectCountries,
} from './atlas.ts';
import type { Continent, Country, CountryFilter, Language } from './atlas.ts';
import { tickCountries } from './country-ticker.ts';
import { typeDefs } from './type-defs.ts';

/** Within bounds: they are checked before a resolver runs. */
type Page = { first: number; offset: number };
type ByCode = { code: string };

export const schema = createSchema({
  typeDefs,
  resolvers: {
    Query: {
      countries: (_: unknown, { filter, ...page }: Page & { filter?: CountryFilter | null }) =>
        slice(selectCountries(filter ?? {}), page),
      country: (_: unknown, { code }: ByCode) => findCountry(code) ?? null,
      continents: (_: unknown, page: Page) => slice(allContinents, page),
      continent: (_: unknown, { code }: ByCode) => findContinent(code) ?? null,
      languages: (_: unknown, page: Page) => slice(allLanguages, page),
      language: (_: unknown, { code }: ByCode) => findLanguage(code) ?? null,
    },
    Subscription: {
      countryOfTheMoment: {
        subscribe: (_: unknown, pace: { intervalMs: number; times: number }) => tickCountries(pace),
        resolve: (country: Country) => country,
      },
    },
    Country: {
      continent: (country: Country) => findContinent(country.continentCode),
      languages: (country: Country) => country.languageCodes.map((code) => findLanguage(code)),
    },
    Continent: {
      countries: (continent: Continent, page: Page) =>
        slice(selectCountries({ continent: continent.code }), page),
    },
    Language: {
      countries: (language: Language, page: Page) =>
        slice(selectCountries({ language: language.code }), page),
    },
  },
});

function slice<T>(items: readonly T[], { first, offset }: Page): T[] {
  return items.slice(offset, offset + first);
}
