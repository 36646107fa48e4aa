import { useState } from 'react';
import { Form } from '../../ui/form/form.tsx';
import { TextField } from '../../ui/form/text-field.tsx';
import { Moment } from '../../ui/moment.tsx';
import { PageHeader } from '../../ui/page/page-header.tsx';
import { Badge } from '../../ui/page/states.tsx';
import page from '../../ui/page/page.module.css';
import { AccountLink } from '../location.tsx';
import { find, newestAccountsQuery } from './queries.ts';
import type { Found } from './queries.ts';
import { Listed } from './section.tsx';

/** `/operator/`: finds a customer by what they quote, and lists the newest. */
export function CustomersPage() {
  const [found, setFound] = useState<Found | null>(null);
  return (
    <>
      <PageHeader title="Customers" />
      <section className={page['card']} aria-labelledby="find">
        <h2 id="find">Find a customer</h2>
        <Form submitLabel="Find" onSubmit={(values) => find(values['text']?.trim() ?? '')} onDone={setFound}>
          {(errors) => (
            <TextField
              label="Email, account ID, request ID, client ID, application or invoice"
              name="text"
              autoComplete="off"
              description="The beginning of an address is enough, and of a token only what comes before its last part: anyone who sees a whole one can use it."
              error={errors['text']}
            />
          )}
        </Form>
        {found !== null && <Results found={found} />}
      </section>
      <Listed
        title="Newest accounts"
        query={newestAccountsQuery}
        none="There are no accounts yet."
        keyOf={({ account_id }) => account_id}
        columns={[
          {
            label: 'Account',
            onCard: 'title',
            cell: ({ account_id, email }) => (
              <AccountLink accountId={account_id}>
                <bdi>{email}</bdi>
              </AccountLink>
            ),
          },
          { label: 'Name', cell: ({ name }) => <bdi>{name}</bdi> },
          { label: 'Created', cell: ({ created_at }) => <Moment at={created_at} /> },
          {
            label: 'State',
            onCard: 'status',
            cell: ({ blocked_at, deletion_due_at }) => (
              <AccountState blocked_at={blocked_at} deletion_due_at={deletion_due_at} />
            ),
          },
        ]}
      />
    </>
  );
}

function Results({ found: { text, accounts } }: { found: Found }) {
  if (accounts.length === 0) return <p role="status">Nothing was found for “{text}”.</p>;
  return (
    <ul role="status">
      {accounts.map(({ account_id, what }) => (
        <li key={`${String(account_id)} ${what}`}>
          <AccountLink accountId={account_id} />: <bdi>{what}</bdi>
        </li>
      ))}
    </ul>
  );
}

type State = { blocked_at: string | null; deletion_due_at: string | null };

/** In words; nothing where there is nothing to say. */
export function AccountState({ blocked_at, deletion_due_at }: State) {
  if (deletion_due_at !== null) return <Badge tone="warning">Being deleted</Badge>;
  if (blocked_at !== null) return <Badge tone="danger">Blocked</Badge>;
  return <Badge tone="good">Open</Badge>;
}
