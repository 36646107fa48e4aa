import type { Command } from 'commander';
import { ok, problem } from '@tollgate/contracts/health-findings/finding';
import type { Finding } from '@tollgate/contracts/health-findings/finding';
import { checkReport } from '@tollgate/contracts/health-findings/report';
import { checkVersions } from '@tollgate/contracts/health-findings/versions';
import { healthReportSchema } from '@tollgate/contracts/health-report';
import { VERSION } from '@tollgate/server/version';
import { resultOf } from '../api/client.ts';
import { newGroup } from '../commands.ts';
import { checkPublicCertificate } from '../doctor/certificates.ts';
import { checkGateways, checkStreams } from '../doctor/gateway-checks.ts';
import { EXIT, Failure } from '../failures.ts';
import type { Open, Session } from '../session.ts';

const PROBE_TIMEOUT_MS = 5_000;
/** Includes the time that the report takes. */
const MAX_SKEW_SEC = 3;

export function doctorCommand(open: Open): Command {
  return newGroup(
    'doctor',
    'Check the stack, and say what to do about each finding. Exits with 1 if there is a problem',
  )
    .option(
      '--gateway-url <url...>',
      'base URLs of the gateways’ private listeners (default: that of a local stack)',
    )
    .action(async ({ gatewayUrl }: { gatewayUrl?: string[] }) => {
      const session = open();
      const findings = await examine(session, gatewayUrl);
      await session.print(session.json ? [JSON.stringify({ findings })] : lines(findings));
      const problems = findings.filter(({ status }) => status === 'problem').length;
      if (problems > 0) throw new Failure(EXIT.refused, `${String(problems)} problem(s) found.`);
    });
}

async function examine({ api, local }: Session, gatewayUrls: string[] | undefined): Promise<Finding[]> {
  const parsed = healthReportSchema.safeParse(await resultOf(api.GET('/private/health-report')));
  if (!parsed.success) {
    throw new Failure(EXIT.unreachable, 'account’s report can’t be read: it is of another version.');
  }
  const report = parsed.data;
  const localGateway = local?.private.gateway_url;
  const urls = gatewayUrls ?? (localGateway === undefined ? [] : [localGateway]);
  const [gateways, certificate] = await Promise.all([
    checkGateways(urls, PROBE_TIMEOUT_MS),
    checkPublicCertificate(report.public_url, PROBE_TIMEOUT_MS),
  ]);
  return [
    ...gateways.findings,
    checkStreams(report.postgres?.plan_limits ?? null, gateways.streamsPerPayer),
    checkVersions([
      ['tollgate', VERSION],
      ['account', report.version],
      ...(report.auth === null ? [] : [['auth', report.auth.version] as const]),
      ...gateways.versions,
    ]),
    checkOwnClock(new Date(report.reported_at)),
    ...checkReport(report),
    certificate,
  ];
}

function checkOwnClock(reportedAt: Date): Finding {
  const skewSec = (Date.now() - reportedAt.getTime()) / 1_000;
  if (Math.abs(skewSec) <= MAX_SKEW_SEC) return ok('clocks', "This machine's clock agrees with account's.");
  return problem(
    'clocks',
    `This machine's clock is ${Math.abs(skewSec).toFixed(0)} s ${skewSec > 0 ? 'ahead of' : 'behind'} account's.`,
    'Synchronize the clocks with NTP.',
  );
}

function lines(findings: readonly Finding[]): string[] {
  return findings.flatMap(({ check, status, finding, action }) => [
    `${status.padEnd(8)} ${check}: ${finding}`,
    ...(action === null ? [] : [`         ${action}`]),
  ]);
}
