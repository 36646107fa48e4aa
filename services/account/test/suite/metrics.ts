import type { ServiceProcess } from '@tollgate/testbed/service-process';

/** Summed over the labels; 0 if it is missing. */
export async function accountMetric(
  account: Pick<ServiceProcess, 'privateUrl'>,
  name: string,
): Promise<number> {
  const text = await (await fetch(`${account.privateUrl}/metrics`)).text();
  const lines = text.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}
