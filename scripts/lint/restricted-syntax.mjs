import { builtinRules } from 'eslint/use-at-your-own-risk';

const restricted = builtinRules.get('no-restricted-syntax');

/** ESLint's own rule, which Oxlint doesn't have; twice, since a list for some files would replace that for all. */
export default {
  meta: { name: 'restricted' },
  rules: { syntax: restricted, formats: restricted },
};
