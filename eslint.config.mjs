import js from '@eslint/js';
import { defineConfig } from 'eslint/config';
import regexp from 'eslint-plugin-regexp';
import ts from 'typescript-eslint';

/** Elements and members are written out: a literal that is spread into another one only saves lines. */
const SPREAD_LITERAL = {
  selector:
    'ArrayExpression > SpreadElement > ArrayExpression, CallExpression > SpreadElement > ArrayExpression, NewExpression > SpreadElement > ArrayExpression, SpreadElement > ObjectExpression, JSXSpreadAttribute > ObjectExpression',
  message: 'Write the elements or members of this literal into the one around it.',
};

/** Files with programs of their own (scripts/check.ts), by the rooms that have their configuration. */
const BROWSER_FILES = { 'packages/console': 'packages/console/src/**', e2e: 'e2e/**' };

export default defineConfig(
  { ignores: ['**/node_modules', '**/dist', '.tollgate', '**/api/schema.d.ts'] },
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  js.configs.recommended,
  ts.configs.strictTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        // What `npm run check` compiles: a program of each room's own configuration would read the same files again.
        project: ['tsconfig.json'],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      // A hint to look, no limit: where code stands follows from its meaning.
      'max-lines': ['warn', { max: 400, skipBlankLines: true, skipComments: true }],
      'max-lines-per-function': ['warn', { max: 100, skipBlankLines: true, skipComments: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', ignoreRestSiblings: true }],
      'no-restricted-syntax': ['error', SPREAD_LITERAL],
      eqeqeq: 'error',
      'no-console': 'error',
    },
  },
  ...Object.entries(BROWSER_FILES).map(([room, files]) => ({
    files: [files],
    languageOptions: { parserOptions: { project: [`${room}/tsconfig.json`] } },
  })),
  {
    // process.env has one reader per service (docs/architecture.md, "The rooms").
    files: ['services/**/*.ts', 'packages/**/*.ts', 'tools/**/*.ts'],
    ignores: ['**/config.ts', '**/*.test.ts', 'packages/console/scripts/**'],
    rules: {
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'env', message: 'Read settings in config.ts.' },
      ],
    },
  },
  {
    // What a customer reads is in one language and one zone (docs/design/console.md).
    files: ['packages/console/src/**/*.{ts,tsx}'],
    ignores: ['**/*.test.ts', '**/ui/locale.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        SPREAD_LITERAL,
        {
          selector: 'NewExpression[callee.property.name="DateTimeFormat"]',
          message: 'Use utcFormat of ui/locale.ts.',
        },
        {
          selector: 'NewExpression[callee.object.name="Intl"]:not([arguments.0.name="LOCALE"])',
          message: 'Format in LOCALE of ui/locale.ts.',
        },
        {
          selector: 'MemberExpression[property.name=/^to(Locale|UTC|Date|Time)(Date|Time)?String$/]',
          message: 'Use ui/format.ts.',
        },
      ],
    },
  },
  {
    // An expression that takes quadratic time lets a caller hold a process with one field of 15 KB
    // (docs/design/listeners.md).
    files: [
      'services/**',
      'packages/**',
      'tools/**',
      'clients/**',
      'sample-payments/**',
      'sample-upstream/**',
    ],
    ignores: ['**/*.test.ts', '**/test/**'],
    plugins: { regexp },
    rules: {
      'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
      'regexp/no-super-linear-move': ['error', { report: 'potential' }],
    },
  },
  {
    // Suites, and construction: a list of what is built, in order.
    files: ['**/*.test.ts', 'e2e/**', 'services/*/src/**/{app,compose,open}.ts'],
    rules: { 'max-lines-per-function': 'off' },
  },
  {
    files: ['**/*.{mjs,cjs,js}'],
    extends: [ts.configs.disableTypeChecked],
    languageOptions: {
      globals: {
        process: 'readonly',
        console: 'readonly',
        URL: 'readonly',
        Buffer: 'readonly',
        require: 'readonly',
        module: 'writable',
      },
    },
    rules: { 'no-console': 'off', '@typescript-eslint/no-require-imports': 'off' },
  },
  { files: ['scripts/**', 'e2e/**', 'bench/**'], rules: { 'no-console': 'off' } },
);
