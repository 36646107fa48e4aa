/** Why a sign-in by an identity provider has failed. The message is safe to log: no token is in it. */
export class ProviderFault extends Error {
  /** Not reached, or an answer of a server that has faults of its own. */
  readonly isUnavailable: boolean;
  /** The error that the provider itself has named. */
  readonly said: string | undefined;
  readonly code: unknown;
  /** What failed below, if nothing came back. */
  readonly origin: unknown;

  constructor(
    error: unknown,
    { isUnavailable, said }: { isUnavailable: boolean; said?: string | undefined },
  ) {
    super(reasonOf(error));
    this.name = 'ProviderFault';
    this.isUnavailable = isUnavailable;
    this.said = said !== undefined && /^[a-z_]{1,40}$/.test(said) ? said : undefined;
    this.code = error instanceof Error && 'code' in error ? error.code : undefined;
    this.origin = rootOf(error);
  }
}

/** Not the error itself: some hold the tokens that they are about. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const root = rootOf(error);
  return root === error || !(root instanceof Error) ? error.message : `${error.message}: ${root.message}`;
}

function rootOf(error: unknown): unknown {
  let root = error;
  while (root instanceof Error && root.cause instanceof Error) root = root.cause;
  return root;
}
