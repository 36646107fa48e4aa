import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { OPENED, explorerStorage } from '../../api/explorer-storage.ts';
import type { UsedOperation } from '../../api/operations.ts';
import { sessionQuery } from '../../api/session.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import page from '../../ui/page/page.module.css';
import { CodeBlock } from '../../ui/secret/code-block.tsx';
import { nameOf } from '../../api/operation-name.ts';

type OperationDialogProps = { operation: UsedOperation | null; onClose: () => void };

/** The document of an operation, and the way to try it. */
export function OperationDialog({ operation, onClose }: OperationDialogProps) {
  return (
    <Dialog
      title={operation === null ? '' : <bdi>{nameOf(operation)}</bdi>}
      isOpen={operation !== null}
      onClose={onClose}
    >
      {operation !== null && <Document operation={operation} onClose={onClose} />}
    </Dialog>
  );
}

function Document({ operation, onClose }: { operation: UsedOperation; onClose: () => void }) {
  const { data: session } = useQuery(sessionQuery);
  const navigate = useNavigate();
  const { document, hash } = operation;
  return (
    <>
      {document === null ? (
        <p>The document isn’t kept: it is too long, or was last sent a while ago.</p>
      ) : (
        <>
          <p className={page['muted']}>Literals are replaced. Fill them in before you run it.</p>
          <CodeBlock what="document" shown={document} />
        </>
      )}
      <p className={page['muted']}>
        Hash: <code>{hash}</code>
      </p>
      <div className={page['actions']}>
        {document !== null && session && (
          <Button
            variant="primary"
            onPress={() => {
              explorerStorage(session.account_id).setItem(OPENED, document);
              void navigate({ to: '/explorer' });
            }}
          >
            Open in explorer
          </Button>
        )}
        <Button isReading onPress={onClose}>
          Close
        </Button>
      </div>
    </>
  );
}
