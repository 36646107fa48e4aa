import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { FieldError } from '../../ui/form/field-error.ts';
import { Form } from '../../ui/form/form.tsx';
import { TextField } from '../../ui/form/text-field.tsx';
import { Moment } from '../../ui/moment.tsx';
import { PageHeader } from '../../ui/page/page-header.tsx';
import { Badge, ErrorMessage, Skeleton } from '../../ui/page/states.tsx';
import page from '../../ui/page/page.module.css';
import { OperatorLink } from '../location.tsx';
import { findQuery, newestAccountsQuery } from './queries.ts';
import { Listed } from './section.tsx';

/** Also one that was cut or has a prefix of the installation's own (docs/adr/0004-access-token-format.md). */
const ACCESS_TOKEN = /_[0-9A-Za-z]{22}_/;

/** `/operator/`: finds a customer by what they quote, and lists the newest. */
export function CustomersPage() {
  const [text, setText] = useState('');
  return (
    <>
      <PageHeader title="Customers" />
      <section className={page['card']} aria-labelledby="find">
        <h2 id="find">Find a customer</h2>
        <Form
          submitLabel="Find"
          onSubmit={(values) => {
            const given = values['text']?.trim() ?? '';
            // What is looked for is a part of an address, which proxies log.
            if (ACCESS_TOKEN.test(given)) {
              throw new FieldError(
                'text',
                'This is a token. Ask the customer to revoke it, and find them otherwise.',
              );
            }
            return Promise.resolve(given);
          }}
          onDone={setText}
        >
          {(errors) => (
            <TextField
              label="Email, account ID, request ID, client ID or application"
              name="text"
              autoComplete="off"
              description="Never a token: anyone who sees one can use it."
              error={errors['text']}
            />
          )}
        </Form>
        {text !== '' && <Results text={text} />}
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
              <OperatorLink to={`/accounts/${String(account_id)}`}>
                <bdi>{email}</bdi>
              </OperatorLink>
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

function Results({ text }: { text: string }) {
  const found = useQuery(findQuery(text));
  if (found.isPending) return <Skeleton rows={1} />;
  if (found.isError) {
    return <ErrorMessage error={found.error} what="customers" onRetry={() => void found.refetch()} />;
  }
  if (found.data.length === 0) return <p role="status">Nothing was found for “{text}”.</p>;
  return (
    <ul role="status">
      {found.data.map(({ account_id, what }) => (
        <li key={`${String(account_id)} ${what}`}>
          <OperatorLink to={`/accounts/${String(account_id)}`}>Account {account_id}</OperatorLink>:{' '}
          <bdi>{what}</bdi>
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
