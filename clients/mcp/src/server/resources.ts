import { APIError, type Consigliere, NotFoundError, UnprocessableError } from '@consigliere/sdk';
import {
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  type Resource,
  ResourceNotFoundError,
  type ResourceTemplateType,
} from '@modelcontextprotocol/server';
import { explained, untrusted } from './wording.js';

/** Data inside the mark of what is untrusted, so neither JSON nor Markdown as a whole. */
const mimeType = 'text/plain';

export const RESOURCES: Resource[] = [
  {
    uri: 'consigliere://context',
    name: 'context',
    title: 'Context',
    description: 'The state of the workspace now.',
    mimeType,
  },
];

export const TEMPLATES: ResourceTemplateType[] = [
  {
    uriTemplate: 'consigliere://reports/{date}',
    name: 'report',
    title: 'Daily report',
    description: 'The Daily Report of a day (YYYY-MM-DD).',
    mimeType,
  },
  {
    uriTemplate: 'consigliere://approvals/{approvalId}',
    name: 'approval',
    title: 'Approval',
    description: 'A draft under review.',
    mimeType,
  },
];

/** @throws ProtocolError for what is not there, and for what the service refuses */
export async function readResource(
  client: Consigliere,
  uri: string,
  signal: AbortSignal,
): Promise<ReadResourceResult> {
  const [, kind, id] = /^consigliere:\/\/(context|reports|approvals)(?:\/([\w-]+))?$/.exec(uri) ?? [];
  try {
    if (kind === 'context' && id === undefined) return resource(uri, await client.context.get({ signal }));
    if (kind === 'approvals' && id)
      return resource(uri, await client.approvals.get(id, undefined, { signal }));
    if (kind === 'reports' && id) {
      const headers = { Accept: 'text/plain' };
      const request = { query: { date: id }, headers, signal };
      return resource(uri, await client.request<string>('GET', '/api/pro/reports/daily', request));
    }
  } catch (error) {
    // A date that is none is no resource either.
    if (error instanceof NotFoundError || error instanceof UnprocessableError)
      throw new ResourceNotFoundError(uri);
    const code =
      error instanceof APIError ? ProtocolErrorCode.InvalidRequest : ProtocolErrorCode.InternalError;
    throw new ProtocolError(code, explained(error));
  }
  throw new ResourceNotFoundError(uri);
}

function resource(uri: string, data: unknown): ReadResourceResult {
  return { contents: [{ uri, mimeType, text: untrusted(data) }] };
}
