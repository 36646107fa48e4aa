import { useState } from 'react';
import type { Application } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import styles from '../../ui/page/page.module.css';
import { EndApplication } from './end-application.tsx';

type DangerZoneProps = { application: Application; onDeleted: () => void };

/** What ends the application. */
export function DangerZone({ application, onDeleted }: DangerZoneProps) {
  const [opened, setOpened] = useState<'Revoke' | 'Delete' | null>(null);
  const close = () => {
    setOpened(null);
  };
  return (
    <section className={styles['card']} aria-labelledby="danger-zone">
      <h2 id="danger-zone">Danger zone</h2>
      {/* Only a new client secret brings it back, which a public client can't have. */}
      {application.status === 'active' && !application.public_client && (
        <div className={styles['header']}>
          <p>
            <strong>Revoke</strong>: its client secret and all of its tokens stop working. It stays in your
            list.
          </p>
          <Button
            variant="danger"
            aria-label={`Revoke ${application.name}`}
            onPress={() => {
              setOpened('Revoke');
            }}
          >
            Revoke
          </Button>
        </div>
      )}
      <div className={styles['header']}>
        <p>
          <strong>Delete</strong>: it also disappears from your list. Its past usage stays.
        </p>
        <Button
          variant="danger"
          aria-label={`Delete ${application.name}`}
          onPress={() => {
            setOpened('Delete');
          }}
        >
          Delete
        </Button>
      </div>
      <EndApplication
        application={application}
        action="Revoke"
        isOpen={opened === 'Revoke'}
        onClose={close}
      />
      <EndApplication
        application={application}
        action="Delete"
        isOpen={opened === 'Delete'}
        onClose={close}
        onDone={onDeleted}
      />
    </section>
  );
}
