import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { api, resultOf } from '../../../api/client.ts';
import { Button } from '../../../ui/button.tsx';
import { formatShortDay } from '../../../ui/format.ts';
import { Table } from '../../../ui/list/table.tsx';
import page from '../../../ui/page/page.module.css';
import { Badge, ErrorMessage, Skeleton } from '../../../ui/page/states.tsx';
import { formatAmount } from '../credits/price.ts';
import { subscriptionQuery } from '../queries.ts';
import { invoicesQuery, isOpen } from './queries.ts';
import type { Invoice } from './queries.ts';

/** Invoices and the payment method, for who has paid something. Stripe has the pages behind the buttons. */
export function Invoices({ hasPortal }: { hasPortal: boolean }) {
  const { data, isError, error, refetch } = useQuery({ ...invoicesQuery, enabled: hasPortal });
  useRefreshOncePaid(data);
  const opening = useMutation({
    mutationFn: (invoiceId: number | null) => linkTo(invoiceId),
    onSuccess: ({ url }) => {
      window.location.assign(url);
    },
  });
  if (!hasPortal) return null;
  return (
    <section className={page['card']} aria-labelledby="invoices">
      <div className={page['header']}>
        <h2 id="invoices">Invoices</h2>
        <Button
          isPending={opening.isPending && opening.variables === null}
          onPress={() => {
            opening.mutate(null);
          }}
        >
          Payment details
        </Button>
      </div>
      {opening.isError && <ErrorMessage error={opening.error} />}
      {data === undefined && isError && (
        <ErrorMessage error={error} what="your invoices" onRetry={() => void refetch()} />
      )}
      {data === undefined && !isError && <Skeleton />}
      {data?.length === 0 && <p>You have no invoices yet.</p>}
      {data !== undefined && data.length > 0 && (
        <Table
          label="Invoices"
          rows={data}
          keyOf={({ invoice_id }) => invoice_id}
          columns={[
            { label: 'Number', onCard: 'title', cell: ({ number }) => number ?? '–' },
            { label: 'State', onCard: 'status', cell: State },
            { label: 'Date', cell: ({ issued_at }) => formatShortDay(issued_at) },
            { label: 'Amount', align: 'end', cell: (invoice) => formatAmount(invoice.total, invoice) },
            {
              label: 'Invoice',
              cell: ({ invoice_id, number, state }) => (
                <Button
                  isPending={opening.isPending && opening.variables === invoice_id}
                  onPress={() => {
                    opening.mutate(invoice_id);
                  }}
                >
                  {`${state === 'open' ? 'Pay' : 'View'} ${number ?? 'invoice'}`}
                </Button>
              ),
            },
          ]}
        />
      )}
    </section>
  );
}

/** A paid invoice may have changed the plan, or lifted a block. */
function useRefreshOncePaid(invoices: readonly Invoice[] | undefined): void {
  const client = useQueryClient();
  const open = invoices?.filter(isOpen).length ?? 0;
  const before = useRef(open);
  useEffect(() => {
    if (open < before.current) void client.invalidateQueries({ queryKey: subscriptionQuery.queryKey });
    before.current = open;
  }, [client, open]);
}

/** Links expire, so they are asked for at the click. Without an invoice, the page for cards, addresses and VAT numbers. */
function linkTo(invoice_id: number | null): Promise<{ url: string }> {
  return resultOf(
    invoice_id === null
      ? api.POST('/api/console/payments/portal')
      : api.POST('/api/console/invoices/{invoice_id}/link', { params: { path: { invoice_id } } }),
  );
}

const STATES = {
  draft: { tone: 'neutral', label: 'Draft' },
  open: { tone: 'neutral', label: 'Open' },
  paid: { tone: 'good', label: 'Paid' },
  void: { tone: 'neutral', label: 'Void' },
  uncollectible: { tone: 'danger', label: 'Not paid' },
} as const satisfies Record<Invoice['state'], unknown>;

function State({ state, has_failed }: Invoice) {
  if (has_failed) return <Badge tone="danger">Payment failed</Badge>;
  const { tone, label } = STATES[state];
  return <Badge tone={tone}>{label}</Badge>;
}
