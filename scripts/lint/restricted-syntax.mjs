import { builtinRules } from 'eslint/use-at-your-own-risk';

/** ESLint's own rule, which Oxlint doesn't have. */
export default {
  meta: { name: 'restricted' },
  rules: { syntax: builtinRules.get('no-restricted-syntax') },
};
