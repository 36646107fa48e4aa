import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { CheckboxField } from '../../ui/form/checkbox-field.tsx';
import { Form } from '../../ui/form/form.tsx';
import type { OperatorSession } from '../api/client.ts';
import { REASON } from '../api/reason.ts';
import { beginView } from '../api/view.ts';
import type { AccountSummary } from './queries.ts';
import { ReasonField } from './reason-field.tsx';

type ViewAsProps = { account: AccountSummary; role: OperatorSession['role'] };

/** A button and its dialog, which leads to the customer's own pages. */
export function ViewAs({ account, role }: ViewAsProps) {
  const [isOpen, setOpen] = useState(false);
  const close = () => {
    setOpen(false);
  };
  return (
    <>
      <Button
        onPress={() => {
          setOpen(true);
        }}
      >
        View as customer
      </Button>
      <Dialog title="View as this customer?" isOpen={isOpen} onClose={close}>
        <p>
          You see the console of <bdi>{account.email}</bdi> as they do, for 15 minutes. Nothing can be
          changed, and no secret is shown. The customer sees in their activity that support viewed the
          account; the audit log has each page that you read.
        </p>
        <Form
          submitLabel="View as customer"
          onCancel={close}
          onSubmit={({ [REASON]: reason = '', override }) =>
            beginView(account.account_id, { reason, override: override !== undefined })
          }
          onDone={() => {
            location.assign('/operator/view/');
          }}
        >
          {(errors) => (
            <>
              <ReasonField errors={errors} isRequired />
              {role === 'admin' && (
                <CheckboxField
                  label="Also if the customer forbids it"
                  name="override"
                  defaultChecked={false}
                  description="If they do, they are told by mail, with the reason."
                />
              )}
            </>
          )}
        </Form>
      </Dialog>
    </>
  );
}
