import { KINDS } from './kinds.ts';
import { schemasOf } from './attributes.ts';
import type { Kind, Schema } from './attributes.ts';
import { MAX_PER_PAGE } from './list.ts';

/** What a directory can ask about this service (RFC 7644, section 4). `baseUrl` ends in /scim/v2. */

const core = (name: string) => `urn:ietf:params:scim:schemas:core:2.0:${name}`;

export function serviceProviderConfig(baseUrl: string, documentationUri: string): object {
  return {
    schemas: [core('ServiceProviderConfig')],
    documentationUri,
    patch: { supported: true },
    bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
    filter: { supported: true, maxResults: MAX_PER_PAGE },
    changePassword: { supported: false },
    sort: { supported: false },
    etag: { supported: true },
    authenticationSchemes: [
      {
        type: 'oauthbearertoken',
        name: 'Bearer token',
        description: 'A token that the team’s manager creates on the Team page',
        specUri: 'https://www.rfc-editor.org/rfc/rfc6750',
        primary: true,
      },
    ],
    meta: { resourceType: 'ServiceProviderConfig', location: `${baseUrl}/ServiceProviderConfig` },
  };
}

export function resourceTypes(baseUrl: string): { id: string }[] {
  return KINDS.map((kind) => ({
    schemas: [core('ResourceType')],
    id: kind.name,
    name: kind.name,
    endpoint: kind.endpoint,
    description: kind.description,
    schema: kind.schema.id,
    schemaExtensions: extensionsOf(kind),
    meta: { resourceType: 'ResourceType', location: `${baseUrl}/ResourceTypes/${kind.name}` },
  }));
}

function extensionsOf({ extension }: Kind): object[] {
  return extension === null ? [] : [{ schema: extension.id, required: false }];
}

export function schemas(baseUrl: string): { id: string }[] {
  return KINDS.flatMap(schemasOf).map((schema: Schema) => ({
    schemas: [core('Schema')],
    ...schema,
    meta: { resourceType: 'Schema', location: `${baseUrl}/Schemas/${schema.id}` },
  }));
}
