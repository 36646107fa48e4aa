import { continents, getCountryDataList, getEmojiFlag, languages } from 'countries-list';

export type Country = {
  code: string;
  name: string;
  native: string;
  capital: string | null;
  emoji: string;
  phone: readonly string[];
  currencies: readonly string[];
  continentCode: string;
  languageCodes: readonly string[];
};

export type Continent = { code: string; name: string };

export type Language = { code: string; name: string; native: string; rightToLeft: boolean };

/** From the npm package countries-list: countries by name, continents and languages by code. */
export const allCountries: readonly Country[] = getCountryDataList()
  .map((country) => ({
    code: country.iso2,
    name: country.name,
    native: country.native,
    capital: country.capital === '' ? null : country.capital,
    emoji: getEmojiFlag(country.iso2),
    phone: country.phone.map((prefix) => `+${String(prefix)}`),
    currencies: country.currency,
    continentCode: country.continent,
    languageCodes: country.languages,
  }))
  .sort((a, b) => a.name.localeCompare(b.name, 'en'));

export const allContinents: readonly Continent[] = Object.entries(continents).map(([code, name]) => ({
  code,
  name,
}));

export const allLanguages: readonly Language[] = Object.entries(languages).map(([code, language]) => ({
  code,
  name: language.name,
  native: language.native,
  rightToLeft: 'rtl' in language && language.rtl === 1,
}));

const countryByCode = new Map(allCountries.map((country) => [country.code, country]));
const continentByCode = new Map(allContinents.map((continent) => [continent.code, continent]));
const languageByCode = new Map(allLanguages.map((language) => [language.code, language]));

/** In upper or lower case. */
export function findCountry(code: string): Country | undefined {
  return countryByCode.get(code.toUpperCase());
}

export function findContinent(code: string): Continent | undefined {
  return continentByCode.get(code.toUpperCase());
}

export function findLanguage(code: string): Language | undefined {
  return languageByCode.get(code.toLowerCase());
}

export type CountryFilter = {
  continent?: string | null;
  language?: string | null;
  nameContains?: string | null;
};

/** The countries that meet every condition, by name. */
export function selectCountries({ continent, language, nameContains }: CountryFilter): Country[] {
  const continentCode = continent?.toUpperCase();
  const languageCode = language?.toLowerCase();
  const part = nameContains?.toLowerCase() ?? '';
  return allCountries.filter(
    (country) =>
      (continentCode === undefined || country.continentCode === continentCode) &&
      (languageCode === undefined || country.languageCodes.includes(languageCode)) &&
      (country.name.toLowerCase().includes(part) || country.native.toLowerCase().includes(part)),
  );
}
