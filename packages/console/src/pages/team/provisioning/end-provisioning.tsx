import { useState } from 'react';
import { api, resultOf } from '../../../api/client.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Form } from '../../../ui/form/form.tsx';
import { RadioCards } from '../../../ui/form/radio-cards.tsx';
import { useTeamRefresh } from '../use-team-change.ts';

const CHOICES = [
  {
    value: 'keep',
    label: 'Keep the people',
    description: 'They stay in the team. Those without a password get a mail to choose one.',
  },
  {
    value: 'remove',
    label: 'Remove the people',
    description:
      'They leave the team, and what they made in it is revoked. Their accounts stay. You stay the manager.',
  },
] as const;

/** Switches provisioning off, and asks what becomes of the people. */
export function EndProvisioning() {
  const [isOpen, setOpen] = useState(false);
  const refresh = useTeamRefresh();
  const close = () => {
    setOpen(false);
  };
  return (
    <>
      <Button
        variant="danger"
        onPress={() => {
          setOpen(true);
        }}
      >
        Switch off
      </Button>
      <Dialog title="Switch provisioning off?" isOpen={isOpen} onClose={close}>
        <Form
          submitLabel="Switch off"
          isDangerous
          onCancel={close}
          onSubmit={(values) =>
            resultOf(
              api.POST('/api/console/team/provisioning/end', {
                body: { people: values['people'] === 'remove' ? 'remove' : 'keep' },
              }),
            )
          }
          onDone={() => {
            close();
            refresh();
          }}
        >
          {() => (
            <>
              <p>The directory’s tokens are refused from now on.</p>
              <RadioCards
                label="People of the directory"
                name="people"
                options={CHOICES}
                defaultValue="keep"
              />
            </>
          )}
        </Form>
      </Dialog>
    </>
  );
}
