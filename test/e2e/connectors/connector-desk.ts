import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type EventReceiver, startEventReceiver } from '../../support/event-receiver.js';
import { draftPacket, ScriptedRunner } from '../../support/scripted-runner.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';
import { Desk } from '../directives/desk.js';

export const SECRET = 'crm-t0ken/with+signs=';

export interface OperationOptions {
  baseUrl: string;
  /** Parts of the connector that differ. */
  connector?: object;
}

/** A connector such as an operator would write. */
export function crm({ baseUrl, connector = {} }: OperationOptions): object {
  return {
    connectors: [
      {
        name: 'crm',
        description: 'The customer list',
        baseUrl,
        headers: { Authorization: { env: 'CRM_TOKEN', prefix: 'Bearer ' }, 'X-Client': 'consigliere' },
        operations: [
          {
            name: 'create_contact',
            description: 'Adds a contact',
            method: 'POST',
            path: '/contacts',
            params: {
              type: 'object',
              properties: {
                email: { type: 'string', format: 'email', description: 'The mail address of the contact' },
                name: { type: 'string', maxLength: 100 },
                credit: { type: 'number', minimum: 0 },
              },
              required: ['email'],
            },
            timeoutSeconds: 2,
            amount: { value: 'params.credit', currency: 'EUR' },
            undo: { operation: 'delete_contact', params: { id: 'response.contact.id' } },
          },
          {
            name: 'tag_contact',
            description: 'Puts a tag on a contact, once',
            method: 'PUT',
            path: '/contacts/{id}/tags/{tag}',
            params: {
              type: 'object',
              properties: { id: { type: 'string' }, tag: { type: 'string' } },
              required: ['id', 'tag'],
            },
            idempotent: true,
            timeoutSeconds: 2,
            undo: { operation: 'untag_contact', params: { id: 'params.id', tag: 'params.tag' } },
          },
          {
            name: 'find_contact',
            description: 'Looks a contact up',
            method: 'GET',
            path: '/contacts',
            params: { type: 'object', properties: { email: { type: 'string' } }, required: ['email'] },
            readOnly: true,
          },
          {
            name: 'delete_contact',
            description: 'Removes a contact',
            method: 'DELETE',
            path: '/contacts/{id}',
            params: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
            onlyAsUndo: true,
          },
          {
            name: 'untag_contact',
            description: 'Takes a tag off a contact',
            method: 'DELETE',
            path: '/contacts/{id}/tags/{tag}',
            params: {
              type: 'object',
              properties: { id: { type: 'string' }, tag: { type: 'string' } },
              required: ['id', 'tag'],
            },
            idempotent: true,
            onlyAsUndo: true,
          },
        ],
        ...connector,
      },
    ],
  };
}

type Received = EventReceiver['received'][number];
type Answer = (received: Received, response: ServerResponse, count: number) => void;

/** An application whose operator has configured a service, that service, and a runner that drafts what a test wrote. */
export class ConnectorDesk {
  private constructor(
    readonly test: TestApp,
    readonly service: EventReceiver,
    readonly runner: ScriptedRunner,
    private readonly folder: string,
    private readonly state: { answer: Answer },
  ) {}

  static async start(options: Partial<OperationOptions> = {}): Promise<ConnectorDesk> {
    const state: { answer: Answer } = { answer: created };
    const service = await startEventReceiver((received, response, count) =>
      state.answer(received, response, count),
    );
    const folder = await mkdtemp(join(tmpdir(), 'consigliere-connectors-'));
    const file = join(folder, 'connectors.json');
    await writeFile(file, JSON.stringify(crm({ baseUrl: `http://${service.hostPort}/v1/`, ...options })));
    const test = await startTestApp({
      CONNECTORS_FILE: file,
      CRM_TOKEN: SECRET,
      OUTBOUND_ALLOW: service.hostPort,
    });
    return new ConnectorDesk(test, service, new ScriptedRunner(test), folder, state);
  }

  /** How the service answers from now on. */
  answers(answer: Answer): void {
    this.service.received.length = 0;
    this.state.answer = answer;
  }

  get desk(): Desk {
    return new Desk(this.test);
  }

  /** Hands in a directive for which the runner drafts this one work packet, and answers its ready approval. */
  async drafted(packet: Parameters<typeof draftPacket>[0], by = this.desk, more: object = {}) {
    const text = `Do number ${Math.random()}`;
    this.runner.answer(text, { packets: [draftPacket(packet)] });
    return by.handInReady({ text, capo: 'capo_ops', ...more });
  }

  /** Has it drafted and approved; answers the ids. */
  async approved(packet: Parameters<typeof draftPacket>[0]) {
    const { directiveId, approvalId, approval } = await this.drafted(packet);
    const answer = await this.desk.approve(approvalId);
    expect(answer.status, answer.text).toBe(200);
    return { directiveId, workPacketId: approval.packets[0].workPacketId as string };
  }

  /** The packet once its directive stands so. */
  async packetOf(directiveId: string, status: string) {
    await this.desk.until(directiveId, status, 20);
    return (await this.desk.packets(directiveId))[0]!;
  }

  /** Each table that holds this text anywhere, in whatever column. */
  async tablesWith(text: string): Promise<string[]> {
    const tables = await this.test.rows<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables
       where schemaname not in ('pg_catalog', 'information_schema')`,
    );
    const found = await Promise.all(
      tables.map(async ({ name }) => {
        const rows = await this.test.rows(
          `select 1 from ${name} t where position($1 in t::text) > 0 limit 1`,
          [text],
        );
        return rows.length > 0 ? [name] : [];
      }),
    );
    return found.flat();
  }

  async close(): Promise<void> {
    await this.test.close();
    await this.service.close();
    await rm(this.folder, { recursive: true, force: true });
  }
}

export const created: Answer = (_received, response) => {
  response.statusCode = 201;
  response.setHeader('Content-Type', 'application/json');
  response.end(JSON.stringify({ contact: { id: 'c_42' } }));
};

/** A call of an operation of `crm`. */
export const call = (operation: string, args: object) => ({
  type: 'http.call',
  params: { connector: 'crm', operation, arguments: args },
});

export const CREATE = call('create_contact', { email: 'jane@acme.example', name: 'Jane Doe' });
