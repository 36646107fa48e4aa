import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useState } from 'react';
import { api, resultOf } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { Moment } from '../../ui/moment.tsx';
import styles from '../../ui/page/page.module.css';
import { Overlap } from '../../ui/secret/overlap.tsx';
import { useHashAction } from '../../ui/use-hash-action.ts';
import { Credentials } from './credentials.tsx';
import type { ApplicationWithSecrets } from './queries.ts';
import { RotateSecret } from './rotate-secret.tsx';
import type { Rotated } from './rotate-secret.tsx';

/** When the client secret was created, and its rotation. */
export function ClientSecret({ application }: { application: ApplicationWithSecrets }) {
  const queryClient = useQueryClient();
  const [isRotating, setRotating] = useState(false);
  const [rotated, setRotated] = useState<Rotated | null>(null);
  const { application_id, secrets, status } = application;
  const [current, previous] = secrets;
  const path = { application_id };
  useHashAction('rotate', () => {
    setRotating(true);
  });
  const refresh = useCallback(() => {
    void queryClient.invalidateQueries({ queryKey: ['applications'] });
    void queryClient.invalidateQueries({ queryKey: ['tokens'] });
  }, [queryClient]);
  return (
    <section aria-labelledby="client-secret">
      <div className={styles['header']}>
        <h3 id="client-secret">Client secret</h3>
        <Button
          onPress={() => {
            setRotating(true);
          }}
        >
          Rotate Secret
        </Button>
      </div>
      {current === undefined ? (
        <p>
          {status === 'revoked'
            ? 'The application is revoked and has no client secret. Rotate it to activate the application again.'
            : 'The application has no client secret. Rotate it to get one.'}
        </p>
      ) : (
        <p>
          Created <Moment at={current.created_at} />. Only a hash of it is stored, so it can’t be shown again.
        </p>
      )}
      {typeof previous?.expires_at === 'string' && (
        <Overlap
          what="The previous client secret"
          until={previous.expires_at}
          onEndEarly={() =>
            resultOf(
              api.DELETE('/api/console/applications/{application_id}/previous-secret', { params: { path } }),
            )
          }
          onOver={refresh}
        />
      )}
      <RotateSecret
        application={application}
        isOpen={isRotating}
        onClose={() => {
          setRotating(false);
        }}
        onRotated={(result) => {
          setRotating(false);
          setRotated(result);
          refresh();
        }}
      />
      {rotated !== null && (
        <Credentials
          credentials={rotated}
          onClose={() => {
            setRotated(null);
          }}
        />
      )}
    </section>
  );
}
