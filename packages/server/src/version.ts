import manifest from '../../../package.json' with { type: 'json' };

/** The version of Tollgate that this process was built from. */
export const VERSION: string = manifest.version;
