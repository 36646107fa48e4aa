import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { addressesQuery } from '../../api/addresses.ts';
import { api, resultOf } from '../../api/client.ts';
import type { Application } from '../../api/client.ts';
import { curlSample } from '../../code-samples/languages/curl.ts';
import { useFirstCall } from '../../code-samples/first-call.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Form } from '../../ui/form/form.tsx';
import { SelectField } from '../../ui/form/select-field.tsx';
import { TextField } from '../../ui/form/text-field.tsx';
import type { DialogState } from '../../ui/dialog.tsx';
import { CodeBlock } from '../../ui/secret/code-block.tsx';
import { SecretLine } from '../../ui/secret/secret-line.tsx';

type Generated = { token_id: number; name: string; access_token: string };

type GenerateTokenProps = DialogState & {
  /** Of one of these. */
  applications: readonly Application[];
  onGenerated: (tokenId: number) => void;
};

/** The dialog "Generate Access Token", and then the token. */
export function GenerateToken({ applications, isOpen, onClose, onGenerated }: GenerateTokenProps) {
  const [generated, setGenerated] = useState<Generated | null>(null);
  const close = () => {
    setGenerated(null);
    onClose();
  };
  return generated === null ? (
    <Dialog title="Generate Access Token" isOpen={isOpen} onClose={close}>
      <GenerateForm
        applications={applications}
        onClose={close}
        onGenerated={(token) => {
          setGenerated(token);
          onGenerated(token.token_id);
        }}
      />
    </Dialog>
  ) : (
    <NewToken token={generated} onClose={close} />
  );
}

type GenerateFormProps = {
  applications: readonly Application[];
  onClose: () => void;
  onGenerated: (token: Generated) => void;
};

function GenerateForm({ applications, onClose, onGenerated }: GenerateFormProps) {
  const queryClient = useQueryClient();
  const [chosenId, setChosenId] = useState<number>();
  const applicationId = chosenId ?? applications[0]?.application_id ?? 0;
  const application = applications.find(({ application_id }) => application_id === applicationId);
  return (
    <Form
      submitLabel="Generate"
      onCancel={onClose}
      fieldOfCode={{ token_limit_reached: 'name' }}
      onSubmit={(values) =>
        resultOf(
          api.POST('/api/console/applications/{application_id}/tokens', {
            params: { path: { application_id: applicationId } },
            body: { name: values['name'] ?? '' },
          }),
        )
      }
      onDone={(token) => {
        void queryClient.invalidateQueries({ queryKey: ['tokens'] });
        void queryClient.invalidateQueries({ queryKey: ['applications', applicationId] });
        onGenerated(token);
      }}
    >
      {(errors) => (
        <>
          {applications.length > 1 && (
            <SelectField
              label="Application"
              name="application"
              options={applications.map(({ application_id, name }) => ({
                value: String(application_id),
                label: name,
              }))}
              value={String(applicationId)}
              onChange={(chosen) => {
                setChosenId(Number(chosen));
              }}
            />
          )}
          <TextField
            label="Name"
            name="name"
            autoComplete="off"
            description="Where the token is used, for example: nightly report."
            error={errors['name']}
            autoFocus
          />
          {application !== undefined && <p>The token is valid for {application.token_lifespan_label}.</p>}
        </>
      )}
    </Form>
  );
}

function NewToken({ token, onClose }: { token: Generated; onClose: () => void }) {
  const { data: addresses } = useQuery(addressesQuery);
  const operation = useFirstCall();
  const { name, access_token } = token;
  const curl = (shown: string, dataUrl: string) =>
    curlSample({ operation, credential: { kind: 'token', token: shown }, dataUrl });
  return (
    <Dialog
      title={
        <>
          Token <bdi>{name}</bdi>
        </>
      }
      isOpen
      onClose={onClose}
    >
      <p>Keep it secret. You can copy it again from the list while it is valid.</p>
      <SecretLine label="Access token" what="access token" text={access_token} />
      {addresses !== undefined && (
        <>
          <p>Call the API. The copied command contains the token.</p>
          <CodeBlock
            what="curl command"
            shown={curl('<access token>', addresses.dataUrl)}
            copied={curl(access_token, addresses.dataUrl)}
          />
        </>
      )}
      <div>
        <Button variant="primary" onPress={onClose}>
          Done
        </Button>
      </div>
    </Dialog>
  );
}
