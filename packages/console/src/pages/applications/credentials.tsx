import { useQuery } from '@tanstack/react-query';
import type { Application } from '../../api/client.ts';
import { addressesQuery } from '../../api/addresses.ts';
import type { Addresses } from '../../api/addresses.ts';
import { useFirstCall } from '../../code-samples/first-call.ts';
import { curlSample } from '../../code-samples/languages/curl.ts';
import { CodeBlock } from '../../ui/secret/code-block.tsx';
import { CopyLine } from '../../ui/secret/secret-line.tsx';
import { SecretOnce } from '../../ui/secret/secret-once.tsx';

type CredentialsProps = {
  credentials: Pick<Application, 'name' | 'type' | 'client_id'> & { client_secret: string };
  onClose: () => void;
};

/** An application's client id and its new secret, ready to be used. */
export function Credentials({ credentials, onClose }: CredentialsProps) {
  const { name, type, client_id, client_secret } = credentials;
  const operation = useFirstCall();
  const { data: addresses } = useQuery(addressesQuery);
  const env = `TOLLGATE_CLIENT_ID=${client_id}\nTOLLGATE_CLIENT_SECRET=${client_secret}\n`;
  const curl = (clientSecret: string, { dataUrl, tokenUrl }: Addresses) =>
    curlSample({
      dataUrl,
      operation,
      credential: { kind: 'client', clientId: client_id, clientSecret, tokenUrl },
    });
  return (
    <SecretOnce
      title={
        <>
          Credentials of <bdi>{name}</bdi>
        </>
      }
      what="client secret"
      secret={client_secret}
      env={{ fileName: `${name}.env`, text: env }}
      onClose={onClose}
      more={(markCopied) =>
        // Others get tokens by the consent of people.
        type !== 'authorization' &&
        addresses && (
          <>
            <p>Get an access token, then call the API. The copied commands contain the secret.</p>
            <CodeBlock
              what="curl commands"
              shown={curl('<client secret>', addresses)}
              copied={curl(client_secret, addresses)}
              onCopied={markCopied}
            />
          </>
        )
      }
    >
      <CopyLine label="Client ID" what="client ID" text={client_id} />
    </SecretOnce>
  );
}
