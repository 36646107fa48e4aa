import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, resultOf } from '../../api/client.ts';
import type { Application } from '../../api/client.ts';
import { applicationTokensQuery } from './queries.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Form } from '../../ui/form/form.tsx';
import { Empty, ErrorMessage, Skeleton } from '../../ui/page/states.tsx';
import { TextField } from '../../ui/form/text-field.tsx';
import { TokenTable } from '../tokens/token-table.tsx';
import styles from '../../ui/page/page.module.css';

/** **Manually created access tokens**: generate, copy without revealing, revoke. */
export function TokenList({ application }: { application: Application }) {
  const { application_id, status } = application;
  const { data, isError, isPending, error, refetch } = useQuery(applicationTokensQuery(application_id));
  const [isGenerating, setGenerating] = useState(false);
  return (
    <section className={styles['card']} aria-labelledby="tokens">
      <div className={styles['header']}>
        <h2 id="tokens">Manually created access tokens</h2>
        {status === 'active' && (
          <Button
            variant="primary"
            onPress={() => {
              setGenerating(true);
            }}
          >
            Generate New Token
          </Button>
        )}
      </div>
      {isPending && <Skeleton />}
      {data === undefined && isError && <ErrorMessage error={error} onRetry={() => void refetch()} />}
      {data?.tokens.length === 0 && (
        <Empty title="No tokens yet">
          <p>Generate a token here, or have your program request one with the client ID and secret.</p>
        </Empty>
      )}
      {data !== undefined && data.tokens.length > 0 && <TokenTable tokens={data.tokens} />}
      <GenerateToken
        application={application}
        isOpen={isGenerating}
        onClose={() => {
          setGenerating(false);
        }}
      />
    </section>
  );
}

type GenerateTokenProps = { application: Application; isOpen: boolean; onClose: () => void };

function GenerateToken({ application, isOpen, onClose }: GenerateTokenProps) {
  const queryClient = useQueryClient();
  const { application_id, token_lifespan_label } = application;
  return (
    <Dialog title="Generate Access Token" isOpen={isOpen} onClose={onClose}>
      <p>The token is valid for {token_lifespan_label}. You can copy it from the list at any time.</p>
      <Form
        submitLabel="Generate"
        onCancel={onClose}
        onSubmit={(values) =>
          resultOf(
            api.POST('/api/console/applications/{application_id}/tokens', {
              params: { path: { application_id } },
              body: { name: values['name'] ?? '' },
            }),
          )
        }
        onDone={() => {
          onClose();
          void queryClient.invalidateQueries({ queryKey: ['applications', application_id, 'tokens'] });
        }}
      >
        {(errors) => (
          <TextField
            label="Name"
            name="name"
            autoComplete="off"
            description="Where the token is used, for example: nightly report."
            error={errors['name']}
            autoFocus
          />
        )}
      </Form>
    </Dialog>
  );
}
