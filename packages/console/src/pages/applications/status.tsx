import type { Application } from '../../api/client.ts';
import { Badge } from '../../ui/page/states.tsx';

export type Status = Application['status'];

export function StatusBadge({ status }: { status: Status }) {
  return status === 'active' ? <Badge tone="good">Active</Badge> : <Badge tone="neutral">Revoked</Badge>;
}

export const TYPE_LABELS = {
  automatic: 'Automatic',
  manual: 'Manual',
  authorization: 'Authorization',
} as const;
