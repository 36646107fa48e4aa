import { Moment } from '../../ui/moment.tsx';
import { Badge } from '../../ui/page/states.tsx';
import type { Webhook } from './queries.ts';

const REASONS = {
  owner: 'Disabled by you',
  gone: 'Disabled: your server responded with 410',
  failing: 'Disabled: all deliveries failed for days',
} as const;

/** Whether events are sent, and if not, why. */
export function WebhookStatus({ webhook }: { webhook: Webhook }) {
  const { enabled, disabled_reason, failing_since } = webhook;
  if (!enabled) return <Badge tone="danger">{REASONS[disabled_reason ?? 'owner']}</Badge>;
  if (failing_since === null) return <Badge tone="good">Enabled</Badge>;
  return (
    <Badge tone="warning">
      <span>
        Failing since <Moment at={failing_since} />
      </span>
    </Badge>
  );
}
