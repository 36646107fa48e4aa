/** The package manager with its version, for npx. */
export const PNPM: string;

export function install(root: string): Promise<boolean>;
