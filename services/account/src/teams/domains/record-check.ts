import { Resolver } from 'node:dns/promises';

/**
 * `unknown`: DNS didn't answer, or the whole domain is gone, which may be a fault of a resolver or a registrar.
 * `found`: up to ten values that stand in the record's place.
 */
export type RecordCheck =
  { result: 'proven' } | { result: 'missing'; found: string[] } | { result: 'unknown' };

export type CheckRecord = (wanted: { domain: string; name: string; value: string }) => Promise<RecordCheck>;

const TIMEOUT_MS = 5_000;

const SHOWN_VALUES = 10;

const SHOWN_CHARACTERS = 200;

/** @param dnsServers `address` or `address:port`; the system's if empty */
export function createRecordCheck(dnsServers: readonly string[]): CheckRecord {
  return async ({ domain, name, value }) => {
    const resolver = new Resolver({ timeout: TIMEOUT_MS / 2, tries: 2 });
    if (dnsServers.length > 0) resolver.setServers(dnsServers);
    const deadline = setTimeout(() => {
      resolver.cancel();
    }, TIMEOUT_MS);
    try {
      const texts = (await resolver.resolveTxt(name)).map((strings) => strings.join(''));
      if (texts.includes(value)) return { result: 'proven' };
      const found = texts.slice(0, SHOWN_VALUES).map((text) => text.slice(0, SHOWN_CHARACTERS));
      return { result: 'missing', found };
    } catch (error) {
      if (codeOf(error) === 'ENODATA') return { result: 'missing', found: [] };
      // The name doesn't exist. That says something about the record only if the domain does.
      if (codeOf(error) === 'ENOTFOUND' && (await exists(resolver, domain))) {
        return { result: 'missing', found: [] };
      }
      return { result: 'unknown' };
    } finally {
      clearTimeout(deadline);
    }
  };
}

async function exists(resolver: Resolver, domain: string): Promise<boolean> {
  try {
    await resolver.resolveSoa(domain);
    return true;
  } catch (error) {
    return codeOf(error) === 'ENODATA';
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
